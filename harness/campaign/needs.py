"""Whether a bench can show a fault, from its rig file alone."""

from __future__ import annotations

from collections.abc import Callable

from harness.campaign.fault import Fault
from harness.campaign.links import linked, naming, on_serial_line, refusing
from harness.rig.sections import Rig


def _lamp_drivers(rig: Rig) -> set[str]:
    if rig.lamps is None:
        return set()
    maps = [rig.lamps.map, *(path.map for path in rig.lamps.paths.values())]
    return {
        rig.devices[channel.device].driver
        for lamp_map in maps
        for channels in lamp_map.values()
        for channel in channels
    }


_HAS: dict[str, Callable[[Rig], bool]] = {
    "readback": lambda rig: rig.keys is not None and bool(rig.keys.readback),
    "lamp-levels": lambda rig: (
        rig.limits.lamp_level_min is not None and "scpi-daq" in _lamp_drivers(rig)
    ),
    "photodiodes": lambda rig: (
        rig.limits.dark_level_max is not None and "scpi-daq" in _lamp_drivers(rig)
    ),
    "known-level": lambda rig: (
        rig.input_test is not None or (rig.lamps is not None and bool(rig.lamps.paths))
    ),
    "settle-limit": lambda rig: rig.limits.settle_ms is not None,
    "entry-timeout-limit": lambda rig: rig.limits.entry_timeout_ms is not None,
    "interlock": lambda rig: rig.interlock.before_call or rig.interlock.while_covered,
    "link": lambda rig: bool(linked(rig)),
    "naming-link": lambda rig: bool(naming(rig)),
    "refusing-link": lambda rig: bool(refusing(rig)),
    "serial-line": lambda rig: bool(on_serial_line(rig)),
    "supply": lambda rig: rig.roles.supply is not None,
    "puncher": lambda rig: rig.table.shaker == "puncher",
    "machine": lambda rig: rig.table.shaker != "manual" and rig.roles.shaker is not None,
    "fault-line": lambda rig: (
        rig.roles.fault_line is not None or getattr(rig.roles.shaker, "fault", None) is not None
    ),
    "cover-sense": lambda rig: rig.roles.cover_sense is not None and rig.roles.cover is not None,
    "shake-sense": lambda rig: rig.roles.shake_sense is not None,
    "dice-camera": lambda rig: bool(rig.roles.dice_camera),
    "countdown": lambda rig: rig.roles.countdown is not None,
    "operator": lambda rig: rig.roles.operator is not None,
}


def lacking(fault: Fault, rig: Rig) -> list[str]:
    """Give what the bench lacks to show the fault; nothing if it can."""
    return [need for need in fault.needs if not _HAS[need](rig)]
