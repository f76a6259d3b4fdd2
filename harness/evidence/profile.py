"""The laboratory's profile: the part of a report that stays the same, as a TOML file.

    [laboratory]
    name = "…"            # address, place (where the tests are made), accreditation, contact
    [customer]
    name = "…"            # address, contact
    [item]
    description = "…"     # condition, maker, model, serial, firmware, firmware_sha256, received
    [method]
    name = "…"            # version, sampling, deviations = [], from_others = []
    [authorised]
    by = "…"              # title

Every key may be left out: a report prints what is missing as missing. An unknown key is refused.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from harness.verdicts import ConfigurationError, InvalidFileError, Problem

_TEXTS: Mapping[str, tuple[str, ...]] = {
    "laboratory": ("name", "address", "place", "accreditation", "contact"),
    "customer": ("name", "address", "contact"),
    "item": (
        "description",
        "condition",
        "maker",
        "model",
        "serial",
        "firmware",
        "firmware_sha256",
        "received",
    ),
    "method": ("name", "version", "sampling"),
    "authorised": ("by", "title"),
}
_LISTS: Mapping[str, tuple[str, ...]] = {"method": ("deviations", "from_others")}
_DATES = frozenset({"received"})


def default_profile_path() -> Path:
    """Give where a profile is looked for: `sicbo-hil/laboratory.toml` in the user's configuration.

    XDG base directories 0.8.
    """
    named = os.environ.get("XDG_CONFIG_HOME", "")
    base = Path(named) if Path(named).is_absolute() else Path.home() / ".config"
    return base / "sicbo-hil" / "laboratory.toml"


def load_profile(path: Path | None = None) -> dict[str, dict[str, Any]]:
    """Give a profile as JSON values; without `path` the user's own, or nothing if there is none.

    Raises ConfigurationError if a named file cannot be read, InvalidFileError with every mistake.
    """
    where = path or default_profile_path()
    if path is None and not where.is_file():
        return {}
    try:
        data = tomllib.loads(where.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            str(where),
            expected="a laboratory profile (TOML)",
            found=getattr(error, "strerror", None) or str(error),
            remedy="correct the file, or leave it out",
        ) from error
    problems: list[Problem] = []
    profile = {
        section: _section(section, values, problems)
        for section, values in data.items()
        if _known(section, _TEXTS, section, problems)
    }
    if problems:
        raise InvalidFileError(str(where), problems)
    return profile


def _section(section: str, values: object, problems: list[Problem]) -> dict[str, Any]:
    if not isinstance(values, dict):
        problems.append(Problem(section, "a table", repr(values)))
        return {}
    kept: dict[str, Any] = {}
    lists = _LISTS.get(section, ())
    for key, value in values.items():
        where = f"{section}.{key}"
        if not _known(key, (*_TEXTS[section], *lists), where, problems):
            continue
        wanted = "a date" if key in _DATES else "a list of texts" if key in lists else "a text"
        if not _fits(wanted, value):
            problems.append(Problem(where, wanted, repr(value)))
        else:
            kept[key] = value.isoformat() if isinstance(value, date) else value
    return kept


def _fits(wanted: str, value: object) -> bool:
    if wanted == "a date":
        return isinstance(value, date)
    if wanted == "a list of texts":
        return isinstance(value, list) and all(isinstance(text, str) for text in value)
    return isinstance(value, str) and bool(value.strip())


def _known(
    key: str, keys: Mapping[str, object] | tuple[str, ...], where: str, problems: list[Problem]
) -> bool:
    if key in keys:
        return True
    near = difflib.get_close_matches(key, list(keys), 1)
    remedy = f"did you mean {near[0]}?" if near else f"known are {', '.join(keys)}"
    problems.append(Problem(where, "a key of the profile", key, remedy))
    return False
