"""One suite for emulated and real parts: `pytest tests/rig/conformance --rig FILE`.

It presses keys, shakes and counts down on the rig it is given. Without `--rig` it runs on the
embedded rigs that together have every driver.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.rig.bench import Bench, open_bench
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig

DEFAULT = ("emulated", "emulated-instruments")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rig", action="append", help="rig file to run the conformance suite on")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "bench" in metafunc.fixturenames:
        rigs = metafunc.config.getoption("--rig", None) or DEFAULT
        metafunc.parametrize("bench", rigs, indirect=True, scope="module")


@pytest.fixture(scope="module")
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    with open_bench(load_rig(find_rig(request.param))) as bench:
        yield bench
