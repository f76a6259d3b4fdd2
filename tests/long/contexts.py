"""A plugin of pytest under coverage: notes for each line which test reached it, by its node."""

from __future__ import annotations

import coverage
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    running = coverage.Coverage.current()
    assert running is not None
    running.switch_context(item.nodeid.partition("[")[0])
