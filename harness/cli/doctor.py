"""`sicbo-hil doctor`: check a rig part by part, and say what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.rig.sections import Rig
    from harness.rig.selfcheck import Check
    from harness.verdicts import HarnessError

_GOOD = ("PASS", "NOT_APPLICABLE")


@click.command(name="doctor")
@click.argument("rig")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.option("--fault", "faults", multiple=True, help="Fault for the emulated bench.")
def command(rig: str, as_json: bool, faults: tuple[str, ...]) -> None:
    """Check RIG (a rig file, or an embedded rig's name) part by part.

    Ends with 0 if every part is good, 2 if the rig file is wrong, else 3.
    """
    from itertools import chain

    from harness.cli.doctor_calibration import calibrations_of, camera_calibrations
    from harness.cli.doctor_cameras import camera_pictures
    from harness.rig.bench import open_bench
    from harness.rig.find import find_rig
    from harness.rig.rigfile import load_rig
    from harness.rig.selfcheck import self_check
    from harness.verdicts import ConfigurationError, HarnessError

    loaded = load_rig(find_rig(rig))
    checks: list[Check] = []
    if not as_json:
        _head(loaded)
    failures: list[HarnessError] = []
    try:
        with open_bench(loaded, faults, failures) as bench:
            kept, spoilt = calibrations_of(loaded)
            cameras = camera_calibrations(loaded, kept, spoilt)
            for check in chain(self_check(bench), cameras, camera_pictures(bench, kept)):
                checks.append(check)
                if not as_json:
                    _show(check)
    except ConfigurationError:
        raise
    except HarnessError as error:
        for failure in failures or [error]:
            checks.append(_not_open(loaded, failure))
            if not as_json:
                _show(checks[-1])
    bad = [check for check in checks if check.verdict.value not in _GOOD]
    if as_json:
        click.echo(json.dumps([_record(check) for check in checks]))
    else:
        click.echo(f"\n{len(checks) - len(bad)} of {len(checks)} checks good", err=True)
    if any(check.verdict.value == "RIG_FAULT" for check in bad):
        raise click.exceptions.Exit(3)


def _not_open(rig: Rig, error: HarnessError) -> Check:
    """Tell a device that does not open as a check."""
    from harness.rig.selfcheck import Check
    from harness.verdicts import Verdict

    part = f"device:{error.subject}" if error.subject in rig.devices else error.subject
    fault = str(getattr(error, "fault", "failed"))
    found = f"{error.found} (expected {error.expected})"
    return Check(part, "opens", Verdict.RIG_FAULT, found, error.remedy, fault)


def _head(rig: Rig) -> None:
    verified = rig.map_verified
    words = f"by {verified.by}, {verified.at}: {verified.how}" if verified else "not by anybody"
    click.echo(f"{rig.title} ({Path(rig.path).name})\nmap verified {words}\n", err=True)


def _show(check: Check) -> None:
    good = check.verdict.value in _GOOD
    mark = click.style("ok  " if good else "BAD ", fg="green" if good else "red", bold=not good)
    click.echo(f"{mark} {check.part:<24} {check.what}: {check.found}")
    if not good and check.remedy:
        click.echo(f"     {'':<24} -> {check.remedy}")


def _record(check: Check) -> dict[str, object]:
    measured = check.measurement
    return {
        "part": check.part,
        "what": check.what,
        "verdict": check.verdict.value,
        "found": check.found,
        "remedy": check.remedy,
        "fault": check.fault,
        "value": None if measured is None else measured.value,
        "unit": None if measured is None else measured.unit,
        "low": None if measured is None else measured.low,
        "high": None if measured is None else measured.high,
    }
