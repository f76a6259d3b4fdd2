"""`sicbo-hil campaign`: the harness scored against faults armed on purpose."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from harness.campaign.tally import Tally
    from harness.campaign.trial import Outcome
    from harness.rig.sections import Rig

USUAL_RIGS = ("emulated", "emulated-automated-covered", "emulated-instruments", "emulated-puncher")


@click.command()
@click.option("--rig", "rigs", multiple=True, metavar="FILE", help="Emulated rig; default four.")
@click.option("--faults", multiple=True, metavar="LIST", help="As F10,F12; default all.")
@click.option("--seeds", default=5, show_default=True, type=click.IntRange(1))
@click.option("--pairs", default=0, show_default=True, type=click.IntRange(0))
@click.option(
    "--jobs", default=None, type=click.IntRange(1), help="Runs side by side; default by CPUs."
)
@click.option("--out", metavar="DIR", help="Where runs, table and picture go.")
@click.option(
    "--arm",
    type=click.Choice(["control", "command-line"]),
    default="control",
    show_default=True,
    help="Arm faults on running emulators, or with each run's own --fault.",
)
@click.option("--record", is_flag=True, help="Keep the figures as those this version passed.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(
    *,
    rigs: tuple[str, ...],
    faults: tuple[str, ...],
    seeds: int,
    pairs: int,
    jobs: int | None,
    out: str | None,
    arm: str,
    record: bool,
    as_json: bool,
) -> int:
    """Arm each fault in turn, run the books, and score what the reports say.

    Exits with 0 if every fault was detected and rightly named and nothing healthy was blamed,
    else with 1.
    """
    _unwind_on_termination()
    from harness.campaign.picture import draw
    from harness.campaign.runner import Runner
    from harness.campaign.tally import tally
    from harness.campaign.trials import plan_trials, wanted_faults
    from harness.cli.run_workers import side_by_side

    numbers = [number for given in faults for number in given.replace(",", " ").split()]
    chosen = wanted_faults(numbers)
    benches, books = _benches(rigs or USUAL_RIGS)
    plan = plan_trials(chosen, benches, books, seeds=seeds, pairs=pairs)
    folder = _folder(out)
    progress = _Progress(len(plan.trials), benches)
    runner = Runner(benches, folder, "control" if arm == "control" else "command-line")
    started = time.monotonic()
    outcomes = runner.run(plan.trials, jobs or side_by_side(), progress.done)
    figures = tally(outcomes, benches, plan.not_observable)
    told = {
        **figures.to_json(),
        "armed_by": arm,
        "seconds": round(time.monotonic() - started, 1),
        "emulator_restarts": runner.restarts,
        "calibrations": runner.calibrations,
    }
    (folder / "campaign.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    (folder / "campaign.svg").write_text(draw(figures), encoding="utf-8")
    if record:
        from harness.campaign.passed import record_passed

        record_passed(figures, seeds)
    if as_json:
        click.echo(json.dumps(told))
    else:
        _show(figures, folder)
    return 0 if figures.good else 1


def _unwind_on_termination() -> None:
    """Have SIGTERM and SIGHUP end a campaign as Ctrl-C does: its runs and emulators gone."""

    def unwind(number: int, frame: FrameType | None) -> NoReturn:
        del number, frame
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, unwind)


def _benches(names: Sequence[str]) -> tuple[dict[str, Rig], dict[str, str]]:
    """Load the rigs, and give for each the first book that allows its equipment."""
    from harness.rig.find import find_rig
    from harness.rig.rigfile import load_rig
    from harness.rules.books import list_books
    from harness.rules.timeline import Setup
    from harness.verdicts import ConfigurationError

    usual = {book.id: book for book in list_books()}
    order = sorted(usual.values(), key=lambda book: book.id != "ny-5324.51")
    benches: dict[str, Rig] = {}
    books: dict[str, str] = {}
    for name in names:
        rig = load_rig(find_rig(name))
        setup = Setup(rig.table.shaker, rig.table.cover)
        book = next((each for each in order if each.variant(setup) is not None), None)
        if book is None:
            raise ConfigurationError(
                f"rig {rig.name}",
                expected="equipment that a rule book allows",
                found=f"a {setup.shaker} shaker, cover {setup.cover}",
                remedy="name another rig",
            )
        benches[rig.name], books[rig.name] = rig, book.id
    return benches, books


def _folder(out: str | None) -> Path:
    from harness.verdicts import ConfigurationError

    folder = Path(out) if out else Path("runs") / f"campaign-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigurationError(
            str(folder),
            expected="an empty folder, or none yet",
            found="something in it",
            remedy="give --out another folder",
        )
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class _Progress:
    """Tells each trial as it ends, and the time left."""

    def __init__(self, trials: int, rigs: dict[str, Rig]) -> None:
        self._trials = trials
        self._rigs = rigs
        self._done = 0
        self._started = time.monotonic()

    def done(self, outcome: Outcome) -> None:
        """Tell one trial."""
        from harness.campaign.trial import score
        from harness.verdicts import Verdict

        self._done += 1
        left = (time.monotonic() - self._started) / self._done * (self._trials - self._done)
        if not outcome.trial.armed:
            good = outcome.verdict is Verdict.PASS
            said = "" if good else f"FALSE ALARM {outcome.trouble}"
        else:
            found = score(outcome, self._rigs[outcome.trial.rig])
            said = "" if found.good else _wanting(found, outcome.trouble)
        verdict = outcome.verdict.value if outcome.verdict else "none"
        click.echo(
            f"{self._done}/{self._trials}, about {left / 60:.0f} min left: {outcome.trial.name} "
            f"on {outcome.trial.rig}: {verdict} ({outcome.took_s:.0f} s)  {said}",
            err=True,
        )


def _wanting(found: object, trouble: str) -> str:
    words = [
        word
        for name, word in (
            ("detected", "NOT DETECTED"),
            ("verdict_right", "wrong verdict"),
            ("located", "not located"),
        )
        if not getattr(found, name)
    ]
    innocents = getattr(found, "innocents", ())
    if innocents:
        words.append(f"blames {', '.join(innocents)}")
    return "; ".join([*words, *([trouble] if trouble else [])])


def _show(figures: Tally, folder: Path) -> None:
    wide = max((len(row.where) for row in figures.rows), default=0)
    click.echo(f"{'fault':44} {'rig':{wide}} trials  det  verd  loc  innocents blamed")
    for row in figures.rows:
        click.echo(
            f"{row.fault} {row.what:40} {row.where:{wide}} {row.trials:6} {row.detected:4} "
            f"{row.verdict_right:5} {row.located:4}  {', '.join(row.innocents) or '-'}"
        )
    for each in figures.not_observable:
        click.echo(f"{each.fault.number} {each.fault.what:40} not observable on these rigs")
    click.echo(
        f"{len(figures.singles)} single faults: {figures.share('detected'):.1%} detected, "
        f"{figures.share('verdict_right'):.1%} right verdict, "
        f"{figures.share('located'):.1%} located; {len(figures.pairs)} pairs, "
        f"{len(figures.bad_pairs)} bad; {len(figures.healthy)} healthy runs, "
        f"{len(figures.false_alarms)} false alarms"
    )
    click.echo(str(folder))
    if not figures.good:
        click.echo("the campaign was not passed", err=True)
        sys.stderr.flush()
