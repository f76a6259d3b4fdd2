"""`sicbo-hil run`: tables tested against rule books, the record kept, the reports written."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from harness.cli.run_jobs import Order
    from harness.evidence.record import RunRecord

REFUSED = 2
INTERRUPTED = 130


@click.command()
@click.option("--rig", "rigs", multiple=True, metavar="FILE", help="Rig file, or an embedded rig.")
@click.option("--rules", "books", multiple=True, metavar="BOOK", help="Rule book; default all.")
@click.option(
    "--rules-path", "rules_paths", multiple=True, metavar="DIR", help="Folder of further books."
)
@click.option(
    "--inspection",
    type=click.Choice(["full", "cover", "minimum"]),
    default=None,
    help="Results to test: all 216 (default), a smallest set that lights every area, or one.",
)
@click.option("--out", metavar="DIR", help="Run folder; default runs/TIME-ID.")
@click.option(
    "--fault", "faults", multiple=True, metavar="ID[:NAME=VALUE,...]", help="Fault to emulate."
)
@click.option("--record-wire", is_flag=True, help="Record what passes on the bench's wires, too.")
@click.option("--resume", metavar="DIR", help="Take up a run that broke off.")
def command(
    *,
    rigs: tuple[str, ...],
    books: tuple[str, ...],
    rules_paths: tuple[str, ...],
    inspection: str | None,
    out: str | None,
    faults: tuple[str, ...],
    record_wire: bool,
    resume: str | None,
) -> int:
    """Test tables against rule books and write a run folder.

    Without an option: every rule book, each on the emulated rig named in its book. Exits with 0
    if all is good, 1 if the table or a person failed, 3 if the run is inconclusive.
    """
    _unwind_on_termination()
    from harness.cli.run_jobs import order

    if resume is not None:
        if rigs or books or rules_paths or inspection or out or faults or record_wire:
            raise click.UsageError("--resume takes the run up as it was begun: no further options")
        return _go_on(Path(resume))
    wanted = order(
        rigs=rigs,
        books=books,
        rules_paths=rules_paths,
        inspection=inspection or "full",
        faults=faults,
        record_wire=record_wire,
    )
    return _begin(wanted, out)


def _begin(wanted: Order, out: str | None) -> int:
    from harness.cli.run_faults import refuse_wrong_faults
    from harness.cli.run_manifest import manifest_of, new_folder
    from harness.evidence.keys import load_signing_key
    from harness.evidence.record import RunRecord

    key = load_signing_key()
    refuse_wrong_faults(wanted)
    manifest = manifest_of(wanted)
    folder = Path(out) if out is not None else new_folder(str(manifest["run_id"]))
    with RunRecord.create(folder, manifest, wanted.asked()) as record:
        return _carry_out(wanted, record, key, resumed=False)


def _go_on(folder: Path) -> int:
    from harness.cli.run_jobs import resumed_order
    from harness.cli.unchanged import refuse_changed
    from harness.evidence.keys import load_signing_key
    from harness.evidence.record import RunRecord
    from harness.evidence.run_folder import open_run_folder

    key = load_signing_key()
    opened = open_run_folder(folder)
    wanted = resumed_order(opened.read_manifest())
    refuse_changed(opened, wanted)
    with RunRecord.resume(folder) as record:
        return _carry_out(wanted, record, key, resumed=True)


def _carry_out(wanted: Order, record: RunRecord, key: Any, *, resumed: bool) -> int:
    from harness.cli.main import say_error
    from harness.cli.progress import Progress
    from harness.cli.run_workers import Workers
    from harness.evidence.errors import EvidenceError
    from harness.evidence.finish import finish_run

    jobs = wanted.jobs(record.folder.path, resumed=resumed)
    interrupted = False
    with Progress() as progress:
        assert record.lock is not None
        workers = Workers(jobs, progress, record.folder.path / "logs", record.lock.fd)
        try:
            workers.run()
        except KeyboardInterrupt:
            interrupted = True
            workers.stop()
    refused, lost = workers.refused, workers.lost
    left = record.not_concluded()
    why = "interrupted" if interrupted else "; ".join([*refused, *lost])
    if left and not why:
        why = "not all that was planned was concluded"
    record.run_finished(complete=not why, why=why)
    try:
        summary = finish_run(record.folder, key)
    except EvidenceError:
        for line in dict.fromkeys([*refused, *lost]):
            say_error(line)
        say_error(f"not sealed; go on with `sicbo-hil run --resume {record.folder.path}`")
        raise
    _index(record.folder.path)
    return _tell(
        record.folder.path,
        summary,
        refused=refused,
        lost=[*lost, *left] if not refused else lost,
        interrupted=interrupted,
    )


def _index(folder: Path) -> None:
    """Add the run to the history; a history that cannot be kept changes no verdict."""
    from harness.cli.main import say_error
    from harness.evidence.errors import EvidenceError
    from harness.evidence.history import index_run

    try:
        index_run(folder)
    except EvidenceError as error:
        say_error(str(error))


def _tell(
    folder: Path,
    summary: dict[str, Any],
    *,
    refused: Sequence[str],
    lost: Sequence[str],
    interrupted: bool,
) -> int:
    from harness.cli.main import say_error
    from harness.cli.run_outcome import print_outcome
    from harness.verdicts import Verdict, exit_status

    for line in dict.fromkeys([*refused, *lost]):
        say_error(line)
    print_outcome(folder, summary)
    if interrupted:
        say_error(f"interrupted; go on with `sicbo-hil run --resume {folder}`")
        return INTERRUPTED
    if refused:
        return REFUSED
    if lost:
        say_error(f"not complete; go on with `sicbo-hil run --resume {folder}`")
    return exit_status([Verdict(summary["verdict"])])


def _unwind_on_termination() -> None:
    """Have every polite signal end a run as Ctrl-C does: workers gone, the record closed.

    SIGINT too: a run started in the background by a shell would else ignore it.
    """

    def unwind(number: int, frame: FrameType | None) -> NoReturn:
        del number, frame
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, unwind)
