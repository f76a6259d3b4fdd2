"""Which devices of a bench a fault of the link can befall, by how they are spoken to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.rig.device import DeviceSettings, SerialSettings
from harness.rig.sections import Rig

Linked = Callable[[Rig], Sequence[str]]
"""Gives the devices, by name, in the rig file's order."""

_HANDS = frozenset({"emulator-control", "operator"})
"""They stand for people at the table: no device of a bench."""
_REFUSING = frozenset({"modbus-rtu", "modbus-tcp", "waveshare-relay", "waveshare-inputs"})
"""Modbus: an exception reply carries a code."""
_NAMING = _REFUSING | {"adam-4000", "line-shaker", "line-terminal"}
"""A reply names the unit, the function or the question that it answers."""


def linked(rig: Rig) -> list[str]:
    """Give the devices that answer questions within a limit."""
    return [
        name
        for name, device in rig.devices.items()
        if reply_ms(device) is not None and device.driver not in _HANDS
    ]


def on_serial_line(rig: Rig) -> list[str]:
    """Give those on a serial port."""
    return [name for name in linked(rig) if isinstance(rig.devices[name], SerialSettings)]


def naming(rig: Rig) -> list[str]:
    """Give those whose replies name what they answer."""
    return [name for name in linked(rig) if rig.devices[name].driver in _NAMING]


def refusing(rig: Rig) -> list[str]:
    """Give those that can refuse with a code."""
    return [name for name in linked(rig) if rig.devices[name].driver in _REFUSING]


def the_keys(_rig: Rig) -> Sequence[str]:
    """Give the emulator's own word for the device that presses the keys."""
    return ("keys",)


def the_lamps(_rig: Rig) -> Sequence[str]:
    """Give the emulator's own word for the device that senses the lamps."""
    return ("lamps",)


def asked_throughout(rig: Rig) -> list[str]:
    """Give those that a run asks all through: for the keys and for the lamps."""
    keys, lamps = rig.keys, rig.lamps
    channels = [] if keys is None else [*keys.map.values(), *keys.readback.values()]
    channels += [] if keys is None else keys.travel.values()
    maps = [] if lamps is None else [lamps.map, *(path.map for path in lamps.paths.values())]
    channels += [each for lamp_map in maps for several in lamp_map.values() for each in several]
    used = {channel.device for channel in channels}
    return [name for name in linked(rig) if name in used]


def reply_ms(device: DeviceSettings) -> int | None:
    """Give a device's limit for the start of a reply; None where it has none."""
    limit: int | None = getattr(device, "reply_ms", None)
    return limit


def drivers(rig: Rig) -> frozenset[str]:
    """Give the drivers by which a bench's devices are spoken to."""
    return frozenset(rig.devices[name].driver for name in linked(rig))
