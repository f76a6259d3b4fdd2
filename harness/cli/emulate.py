"""`sicbo-hil emulate`: the stand-in bench of a rig file, until it is stopped."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import click

from harness.verdicts import ConfigurationError


@click.command()
@click.argument("rig", metavar="RIG")
@click.option(
    "--fault", "faults", multiple=True, metavar="ID[:NAME=VALUE,...]", help="Arm a fault."
)
def emulate(rig: str, faults: tuple[str, ...]) -> None:
    """Emulate the bench of RIG, a rig file or the name of one that comes with the harness.

    The first line tells where everything is; it runs until stopped.
    """
    path = _rig_file(rig)
    program = _program(path)
    environment = {**os.environ, "SICBO_HIL_STANDALONE": "1"}
    arguments = [*program, str(path)]
    for fault in faults:
        arguments += ["--fault", fault]
    found = shutil.which(program[0])
    if found is None:
        raise ConfigurationError(
            str(path),
            expected="an emulator program that is there",
            found=program[0],
            remedy="correct [emulator] program in the rig file",
        )
    os.execve(found, arguments, environment)  # noqa: S606 - takes this process's place


def _rig_file(rig: str) -> Path:
    path = Path(rig)
    if path.exists() or path.suffix:
        return path
    from harness.rig.rigfile import find_rig

    return find_rig(rig)


def _program(path: Path) -> list[str]:
    """Give the rig file's emulator program and its arguments, by includes too."""
    program = _emulator_section(path, ()).get("program")
    if (
        not isinstance(program, list)
        or not program
        or not all(isinstance(word, str) for word in program)
    ):
        raise ConfigurationError(
            str(path),
            expected='[emulator] program, as in program = ["{python}", "-m", "harness.emulator"]',
            found="none" if program is None else repr(program),
            remedy="only a rig with an emulator can be emulated",
        )
    return [word.replace("{python}", sys.executable) for word in program]


def _emulator_section(path: Path, including: tuple[Path, ...]) -> Mapping[str, object]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(
            str(path),
            expected="a rig file",
            found=(error.strerror or str(error)).lower(),
            remedy="correct the path",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            str(path), expected="a TOML file", found=str(error), remedy="correct the file"
        ) from None
    section: dict[str, object] = {}
    includes = data.get("include", [])
    for name in [includes] if isinstance(includes, str) else includes:
        included = (path.parent / str(name)).resolve()
        if included not in including:
            section |= _emulator_section(included, (*including, included))
    own = data.get("emulator", {})
    return section | own if isinstance(own, dict) else section
