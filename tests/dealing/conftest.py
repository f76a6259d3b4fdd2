"""An emulated bench over its wires, opened once, with its control channel to break it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.rig.bench import Bench, open_bench
from harness.rig.drivers.emulator_control import EmulatorControl
from harness.rig.rigfile import load_rig
from harness.rules.books import RuleBook, load_book

RIGS = Path(__file__).parents[2] / "rigs"


@pytest.fixture(scope="session")
def book() -> RuleBook:
    """New York's rules."""
    return load_book("ny-5324.51")


@pytest.fixture(scope="session")
def _opened() -> Iterator[Bench]:
    with open_bench(load_rig(RIGS / "emulated.toml")) as opened:
        yield opened


@pytest.fixture
def bench(_opened: Bench) -> Iterator[Bench]:
    """The bench, healthy at the start and put right at the end."""
    yield _opened
    hand(_opened).do("disarm")
    _opened.release_all()
    assert _opened.cover is not None
    _opened.cover.take_off()
    assert _opened.keys is not None
    _opened.keys.press("clear")


def hand(bench: Bench) -> EmulatorControl:
    """Give the control channel of an emulated bench."""
    device = bench.devices["hand"]
    assert isinstance(device, EmulatorControl)
    return device


def arm(bench: Bench, fault: str, **parameters: object) -> None:
    """Arm a fault on the emulated bench."""
    hand(bench).do("arm", fault=fault, **{"with": parameters})
