"""`sicbo-hil emulate`: the stand-in bench of a rig file, until it is stopped."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import click

from harness.verdicts import ConfigurationError

if TYPE_CHECKING:
    from harness.rig.sections import Rig


@click.command()
@click.argument("rig", metavar="RIG")
@click.option(
    "--fault", "faults", multiple=True, metavar="ID[:NAME=VALUE,...]", help="Arm a fault."
)
def emulate(rig: str, faults: tuple[str, ...]) -> None:
    """Emulate the bench of RIG, a rig file or the name of one that comes with the harness.

    The first line tells where everything is; it runs until stopped.
    """
    from harness.rig.find import find_rig
    from harness.rig.rigfile import load_rig

    path = find_rig(rig)
    program = _program(load_rig(path))
    arguments = [*program, str(path)]
    for fault in faults:
        arguments += ["--fault", fault]
    # The emulator takes this process's place, so that whoever stops this command stops it.
    environment = {**os.environ, "SICBO_HIL_STANDALONE": "1"}
    os.execve(arguments[0], arguments, environment)  # noqa: S606


def _program(rig: Rig) -> list[str]:
    """Give the rig file's emulator program, found, with its arguments."""
    if rig.emulator is None:
        raise ConfigurationError(
            str(rig.path),
            expected="a section [emulator] with a program",
            found="none",
            remedy="only a rig with an emulator can be emulated",
        )
    from harness.rig.launch import program_words

    words = program_words(rig.emulator.program, rig.path)
    found = shutil.which(words[0])
    if found is None:
        raise ConfigurationError(
            str(rig.path),
            expected="an emulator program that is there",
            found=words[0],
            remedy="correct [emulator] program in the rig file",
        )
    return [found, *words[1:]]
