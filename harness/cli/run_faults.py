"""Whether the emulators take the faults that a run is to arm, asked before anything is begun."""

from __future__ import annotations

import contextlib

from harness.cli.run_jobs import Order, refuse
from harness.rig.errors import NotThereError
from harness.rig.launch import standin
from harness.verdicts import ConfigurationError, HarnessError


def refuse_wrong_faults(order: Order) -> None:
    """Start each rig's emulator with the faults, and end it.

    Raises what the emulators refuse. One that does not come up is left to the run, which tells it
    as the rig's fault.
    """
    if not order.faults:
        return
    mistakes: list[HarnessError] = []
    for rig in {sitting.rig.path: sitting.rig for sitting in order.sittings}.values():
        assert rig.emulator is not None
        try:
            with (
                contextlib.suppress(NotThereError),
                standin(rig.emulator.program, rig.path, order.faults),
            ):
                pass
        except ConfigurationError as error:
            mistakes.append(error)
    refuse(mistakes)
