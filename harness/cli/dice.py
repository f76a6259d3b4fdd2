"""`sicbo-hil dice read`: reads dice in picture files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.vision.readings import DiceReading


class DiceCount(click.ParamType[int | None]):
    """How many dice a picture must show: a number from 1, or `any`."""

    name = "N|any"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """Give the number, None for `any`."""
        text = str(value)
        if text == "any":
            return None
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            self.fail(f"{text!r} is neither a number of dice from 1 nor 'any'", param, ctx)
        return int(text)


@click.group(help="Read dice in pictures.")
def command() -> None:
    """Group of the dice commands."""


@command.command(name="read")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--dice",
    "count",
    type=DiceCount(),
    default="3",
    show_default=True,
    help="How many dice there must be; 'any' takes as many as are seen.",
)
@click.option(
    "--profile",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="The dice camera's calibration.",
)
@click.option(
    "--annotate",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Draw what was seen into this folder.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
def read(
    paths: tuple[str, ...],
    count: int | None,
    profile: str | None,
    annotate: str | None,
    as_json: bool,
) -> int:
    """Read the dice in each picture, in the order given; folders in name order.

    Exit status 0 if every picture was read, 3 if any was refused, 2 if no file could be opened.
    """
    import cv2

    from harness.vision.calibration import load_profile
    from harness.vision.overlay import draw_reading
    from harness.vision.pictures import read_file
    from harness.vision.reader import DiceReader
    from harness.vision.readings import DiceReading

    reader = DiceReader(None if profile is None else load_profile(Path(profile)))
    drawings = None if annotate is None else Path(annotate)
    if drawings is not None:
        _make_folder(drawings)
    taken: set[str] = set()
    opened = refused = 0
    for name in _files(paths):
        picture, trouble = read_file(Path(name))
        if picture is None:
            click.echo(f"sicbo-hil: {name}: expected a picture, found none: {trouble}", err=True)
            reading = DiceReading("unreadable", (), "not-an-image", 0.0, (), 0.0)
        else:
            opened += 1
            reading = reader.read(picture, count)
            if drawings is not None:
                target = drawings / _drawing_name(name, taken)
                if not cv2.imwrite(str(target), draw_reading(picture, reading)):
                    click.echo(
                        f"sicbo-hil: {target}: expected to write a drawing, could not", err=True
                    )
        refused += reading.verdict != "values"
        click.echo(json.dumps(_line(name, reading)) if as_json else _sentence(name, reading))
        sys.stdout.flush()
    if not opened:
        return 2
    return 3 if refused else 0


def _make_folder(folder: Path) -> None:
    from harness.verdicts import ConfigurationError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            str(folder),
            expected="a folder to draw into",
            found=error.strerror or str(error),
            remedy="name another with --annotate",
        ) from error


def _files(paths: tuple[str, ...]) -> list[str]:
    from harness.vision.pictures import SUFFIXES

    names: list[str] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            inside = sorted(p.name for p in path.iterdir() if p.suffix.lower() in SUFFIXES)
            if not inside:
                click.echo(
                    f"sicbo-hil: {given}: expected pictures, found none in this folder", err=True
                )
            names += [str(Path(given, name)) for name in inside]
        else:
            names.append(given)
    return names


def _drawing_name(name: str, taken: set[str]) -> str:
    """Give a drawing's file name; pictures of one name from several folders are numbered."""
    stem, n = Path(name).stem, 1
    drawing = f"{stem}.png"
    while drawing in taken:
        n += 1
        drawing = f"{stem}-{n}.png"
    taken.add(drawing)
    return drawing


def _line(name: str, reading: DiceReading) -> dict[str, object]:
    return {
        "file": name,
        "verdict": reading.verdict,
        "values": list(reading.values),
        "reason": reading.reason,
        "confidence": round(reading.confidence, 4),
        "ms": round(reading.ms, 2),
    }


def _sentence(name: str, reading: DiceReading) -> str:
    if reading.verdict == "values":
        said = ",".join(str(v) for v in reading.values)
    else:
        said = f"{reading.verdict}: {reading.reason}"
    return f"{name}: {said} (confidence {reading.confidence:.3f}, {reading.ms:.1f} ms)"
