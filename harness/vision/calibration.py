"""A dice camera's calibration: what the reader may expect to see, kept as a file with its hash."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.verdicts import InvalidFileError, Problem


class CalibrationError(ValueError):
    """The pictures do not tell what a calibration needs; `lines` says everything that is wrong."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("; ".join(self.lines))


@dataclass(frozen=True, slots=True)
class Profile:
    """What was found when a dice camera was calibrated.

    edge_px: a die's top edge, least and greatest (px). tilt_deg: the camera's tilt from straight
    down. nadir_px: the pixel straight below the camera; focal_px: its focal length (0: not known).
    region: where dice can lie, x, y, width, height (px; width 0: everywhere). sharpness_min,
    bright_min, white_max: limits of `quality.Quality`. made: date, ISO 8601. size_px: width and
    height of the camera's pictures (0: not known). px_per_mm: pixels a mm where dice lie (0: not
    known). settings: digest of the camera's settings in the rig file ("" where it has none).
    background: what the camera sees without dice, as `background` keeps it ("": not known).
    """

    camera: str
    made: str
    edge_px: tuple[float, float] = (24.0, 240.0)
    tilt_deg: float = 0.0
    nadir_px: tuple[float, float] = (0.0, 0.0)
    focal_px: float = 0.0
    region: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    sharpness_min: float = 0.0
    bright_min: float = 0.0
    white_max: float = 1.0
    size_px: tuple[float, float] = (0.0, 0.0)
    px_per_mm: float = 0.0
    settings: str = ""
    background: str = ""

    @property
    def digest(self) -> str:
        """Give the SHA-256 of the profile's contents."""
        return digest_of(profile_body(self))


def profile_body(profile: Profile) -> dict[str, Any]:
    """Give a profile as JSON values, without its hash."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(profile).items()}


def digest_of(body: Mapping[str, Any]) -> str:
    """Give the SHA-256 of a calibration's contents, whatever the order of its names."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


_LENGTHS = {"edge_px": 2, "nadir_px": 2, "region": 4, "size_px": 2}
_TEXTS = ("camera", "made")
_TEXTS_OR_NONE = ("settings", "background")
_NUMBERS = ("tilt_deg", "focal_px", "sharpness_min", "bright_min", "white_max", "px_per_mm")


def save_profile(profile: Profile, path: Path) -> None:
    """Write a profile as JSON with its hash."""
    body = profile_body(profile) | {"sha256": profile.digest}
    path.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")


def load_profile(path: Path) -> Profile:
    """Read a profile, JSON or TOML; every mistake is named, a wrong hash is one."""
    body = read_body(path)
    digest = body.pop("sha256", None)
    problems = _problems(body)
    if problems:
        raise InvalidFileError(str(path), problems)
    fields: dict[str, Any] = {
        k: tuple(map(float, v)) if k in _LENGTHS else v for k, v in body.items()
    }
    profile = Profile(**fields)
    check_digest(path, digest, profile.digest)
    return profile


def read_body(path: Path) -> dict[str, Any]:
    """Read a calibration file, JSON or TOML, as a table; raises InvalidFileError if it is none."""
    try:
        text = path.read_text(encoding="utf-8")
        body = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        problem = Problem("file", "a calibration that can be read", error.strerror or str(error))
        raise InvalidFileError(str(path), [problem]) from error
    except (ValueError, UnicodeDecodeError) as error:
        problem = Problem("file", "JSON, or TOML if named .toml", str(error))
        raise InvalidFileError(str(path), [problem]) from error
    if not isinstance(body, dict):
        problem = Problem("file", "a table of names", type(body).__name__)
        raise InvalidFileError(str(path), [problem])
    return dict(body)


def check_digest(path: Path, told: object, true: str) -> None:
    """Refuse a calibration whose contents are not those that its hash was made of."""
    if told is not None and told != true:
        problem = Problem("sha256", true, str(told), "calibrate again, edit no calibration")
        raise InvalidFileError(str(path), [problem])


def _problems(body: dict[str, Any]) -> list[Problem]:
    known = (*_TEXTS, *_TEXTS_OR_NONE, *_NUMBERS, *_LENGTHS)
    problems = [
        Problem(name, f"one of {', '.join(known)}", "an unknown name")
        for name in body
        if name not in known
    ]
    for name in _TEXTS:
        if not isinstance(body.get(name), str):
            problems.append(Problem(name, "a text", repr(body.get(name))))
    for name in _TEXTS_OR_NONE:
        if not isinstance(body.get(name, ""), str):
            problems.append(Problem(name, "a text", repr(body[name])))
    if isinstance(body.get("background"), str) and body["background"]:
        from harness.vision.background import background_picture  # OpenCV is heavy

        if background_picture(body["background"]) is None:
            problems.append(Problem("background", "a picture in base64", "none that can be read"))
    for name in _NUMBERS:
        if name in body and not _number(body[name]):
            problems.append(Problem(name, "a number, 0 or more", repr(body[name])))
    for name, length in _LENGTHS.items():
        value = body.get(name)
        least = -1e9 if name == "nadir_px" else 0.0
        if name in body and not (
            isinstance(value, list)
            and len(value) == length
            and all(_number(v, least) for v in value)
        ):
            problems.append(Problem(name, f"{length} numbers in range", repr(value)))
    return problems


def _number(value: object, least: float = 0.0) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and least <= float(value) < 1e9  # type: ignore[arg-type]
