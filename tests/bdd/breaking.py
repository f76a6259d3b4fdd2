"""Breaks a table, its dealer or its odds on purpose and runs the scenario that has to notice.

usage: python -m tests.bdd.breaking FOLDER…

Each FOLDER holds `work.json` (`{"book", "rig", "breaks": [{"name", "scenario", "break"}, …]}`).
One emulated bench serves all its breaks: one is armed, the scenario runs, it is disarmed. Each
scenario runs unbroken first. What came out goes to `done.json` (`Done`).

A break is written as a fault of the command line (`F12:a=small,b=big`, or `answer:…` for what the
operator says), or `post:AREA=ODDS` for odds posted at the table.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypedDict

import pytest

from harness.bdd.collecting import FeatureFile
from harness.bdd.features import features_of
from harness.bdd.job import Job, Teller
from harness.bdd.run_plugin import RunPlugin
from harness.bdd.scenario_run import ScenarioRun
from harness.evidence.record import RunRecord
from harness.rig.device import SerialSettings
from harness.rig.drivers.emulator_control import EmulatorControl
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.rules.books import load_book
from harness.verdicts import HarnessError

HOST_TRIES = 3
"""How often a scenario may be tried that a busy host could not watch; it says nothing then."""


class Done(TypedDict):
    """Verdict and reason, of each scenario run sound and of each break."""

    sound: dict[str, tuple[str, str]]
    broken: dict[str, tuple[str, str]]
    refused: list[str]


RIG = """
include = ["{rig}"]
[table]
paytable = "posted.json"
[emulator.options]
stroke_ms = 400
thrown_ms = 200
[limits]
stroke_ms = 180
"""
"""Slower strokes than usual: other processes of a test run take this host's time."""

PATIENT = "[devices.{name}]\nreply_ms = 1500\n"
"""For each serial line: a busy host answers late, and how links fail is tested elsewhere."""

COUNTDOWN = "countdown_tolerance_percent = 10\n"
"""On benches with a countdown; its breaks are greater."""


class BreakingRun(RunPlugin):
    """Runs chosen scenarios, each sound and then broken, on one open bench."""

    def __init__(
        self, breaks: Sequence[dict[str, str]], posted: Path, *given: Any, **named: Any
    ) -> None:
        super().__init__(*given, **named)
        self._breaks = breaks
        self._posted = posted
        self.sound: dict[str, tuple[str, str]] = {}
        self.broken: dict[str, tuple[str, str]] = {}
        self._ended: ScenarioRun | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Open the bench, then run sound and broken in turn."""
        if session.testsfailed:
            return None
        items = {_name(item): item for item in session.items}
        with ExitStack() as open_parts:
            self._open(open_parts)
            for one in self._breaks:
                name = one["scenario"]
                if name not in items:
                    self.broken[one["name"]] = ("MISSING", f"no scenario {name!r}")
                    continue
                if name not in self.sound:
                    self.sound[name] = self._outcome(items[name])
                with self._armed(one["break"]):
                    self.broken[one["name"]] = self._outcome(items[name])
                self._put_right()
        return True

    def _outcome(self, item: pytest.Item) -> tuple[str, str]:
        assert isinstance(item, pytest.Function)
        for _ in range(HOST_TRIES):
            item._initrequest()
            self._run(item, None)
            if not self._lagged:
                break
        assert self._ended is not None
        return self._ended.verdict().value, self._ended.what()

    def _finish(self, run: ScenarioRun) -> None:
        self._ended = run
        super()._finish(run)

    @contextlib.contextmanager
    def _armed(self, text: str) -> Iterator[None]:
        name, _, given = text.partition(":")
        if name == "post":
            area, _, odds = given.partition("=")
            sound = self._posted.read_text()
            several = odds.split("/")
            posted = {**json.loads(sound), area: several if len(several) > 1 else odds}
            self._posted.write_text(json.dumps(posted))
            yield
            self._posted.write_text(sound)
            return
        assert self._sitting is not None
        hand = self._sitting.bench.presenter
        assert isinstance(hand, EmulatorControl)
        values = dict(pair.split("=", 1) for pair in given.split(",") if pair)
        hand.do("arm", fault=name, **{"with": values})
        yield
        hand.do("disarm")

    def _put_right(self) -> None:
        assert self._sitting is not None
        self._broken = None
        with contextlib.suppress(HarnessError):
            self._sitting.tidy()


def _name(item: pytest.Item) -> str:
    assert isinstance(item, pytest.Function)
    assert isinstance(item.parent, FeatureFile)
    return item.parent.facts(item).name


def main(folders: Sequence[str]) -> None:
    """Do the work of folders, one after the other."""
    import cv2

    cv2.setNumThreads(1)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for folder in folders:
        _do(Path(folder))


def _do(folder: Path) -> None:
    work = json.loads((folder / "work.json").read_text())
    usual = find_rig(work["rig"])
    posted = folder / "posted.json"
    rig = load_rig(usual)
    assert rig.table.paytable is not None
    posted.write_text((usual.parent / rig.table.paytable).read_text())
    rig_file = folder / "rig.toml"
    countdown = COUNTDOWN if rig.roles.countdown is not None else ""
    serial = [name for name, one in rig.devices.items() if isinstance(one, SerialSettings)]
    patient = "".join(PATIENT.format(name=name) for name in serial)
    rig_file.write_text(RIG.format(rig=usual) + countdown + patient)
    book = load_book(work["book"])
    features = features_of(book)
    job = Job(book.id, str(rig_file), work["rig"], [str(features)], str(folder / "run"))
    with RunRecord.create(folder / "run", {"run_id": "breaks", "invocation": {}}, {}) as record:
        run = BreakingRun(
            work["breaks"],
            posted,
            job,
            book,
            load_rig(rig_file),
            record=record,
            recorded=None,
            teller=Teller((folder / "told").open("w")),
        )
        pytest.main(
            [
                str(features),
                *("-p", "pytest_bdd.plugin", "-p", "harness.bdd.plugin"),
                *("-p", "no:cacheprovider", "-p", "no:terminal"),
                *("-c", os.devnull, "--rootdir", str(features), "--book", book.id),
            ],
            plugins=[run],
        )
    done: Done = {"sound": run.sound, "broken": run.broken, "refused": run.refused}
    (folder / "done.json").write_text(json.dumps(done))


if __name__ == "__main__":
    main(sys.argv[1:])
