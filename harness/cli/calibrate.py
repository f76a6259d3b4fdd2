"""`sicbo-hil calibrate`: calibrate a rig's cameras and keep what was found for its runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

    from harness.campaign.calibrate import Calibrated
    from harness.rig.sections import Rig
    from harness.rules.books import RuleBook


@click.command(name="calibrate")
@click.argument("rig")
@click.option("--rules", "book", help="Rule book whose results light the layout's areas.")
@click.option(
    "--rules-path",
    "paths",
    multiple=True,
    type=click.Path(),
    help="Folder with further rule books.",
)
@click.option(
    "--die-mm", type=click.FloatRange(min=1), help="Edge of the dice in mm, for the scale."
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.option("--fault", "faults", multiple=True, help="Fault for the emulated bench.")
def command(
    rig: str,
    book: str | None,
    paths: tuple[str, ...],
    die_mm: float | None,
    as_json: bool,
    faults: tuple[str, ...],
) -> None:
    """Calibrate the cameras of RIG (a rig file, or an embedded rig's name).

    Dice are laid (or tossed) before each dice camera; results are entered until every area was lit
    before each layout camera. What was found is kept beside the rig file, in NAME.calibration, with
    pictures: the next run reads by it. Ends with 0 if all cameras were calibrated, 2 if the rig
    file is wrong, 3 if anything was refused; nothing is kept then.
    """
    from pathlib import Path

    import cv2

    from harness.bdd.benches import terminal_of
    from harness.campaign.calibrate import calibrate_rig
    from harness.rig.find import find_rig
    from harness.rig.rigfile import load_rig

    cv2.setNumThreads(1)
    loaded = load_rig(find_rig(rig))
    done = calibrate_rig(
        loaded,
        _book_for(loaded, book, [Path(path) for path in paths]),
        terminal_of(loaded),
        lambda line: click.echo(line, err=True),
        edge_mm=die_mm,
        faults=faults,
    )
    if as_json:
        click.echo(json.dumps({"rig": loaded.name, **done.to_json()}))
    else:
        _show(done)


def _book_for(rig: Rig, name: str | None, paths: list[Path]) -> RuleBook:
    """Give the rule book named, else the first that lights the areas the rig file tells of."""
    from harness.rules.books import list_books, load_book

    if name is not None:
        return load_book(name, paths)
    told = set(rig.lamps.map) if rig.lamps is not None else set()
    for camera in rig.roles.layout_camera:
        told |= set(getattr(rig.devices[camera], "regions", ()))
    books = sorted(list_books(paths), key=lambda book: book.usual_rig != rig.name)
    return next((book for book in books if told <= book.areas.keys()), books[0])


def _show(done: Calibrated) -> None:
    for name, dice in done.dice.items():
        profile = dice.profile
        scale = f", {profile.px_per_mm:.2f} px/mm" if profile.px_per_mm else ""
        x, y, w, h = profile.region
        click.echo(
            f"{name}: dice of {profile.edge_px[0]:.0f} to {profile.edge_px[1]:.0f} px{scale}, "
            f"tilt {profile.tilt_deg:.1f} degrees, region {w:.0f} x {h:.0f} px at {x:.0f},{y:.0f}; "
            f"{dice.proved[0]} of {dice.proved[1]} further pictures read"
        )
        click.echo(f"{'':<{len(name)}}  sha256 {profile.digest}")
    for name, layout in done.layout.items():
        reference = layout.reference
        click.echo(f"{name}: {len(reference.spots)} areas, places by {reference.areas_by}")
        click.echo(f"{'':<{len(name)}}  sha256 {reference.digest}")
        for remark in layout.remarks:
            click.echo(f"{'':<{len(name)}}  look at: {remark}")
    click.echo(f"kept in {done.folder}, {done.made}")
