"""Where a rig uses the channels of its devices, and as what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.rig.channels import Channel
from harness.rig.device import (
    Capability,
)
from harness.rig.sections import (
    LampMap,
    Lamps,
    Machine,
    Rig,
    Timer,
)


@dataclass(slots=True)
class Use:
    """One place where a channel is used."""

    where: tuple[str, ...]
    channel: Channel
    needs: tuple[Capability, ...]


def lamp_maps(lamps: Lamps) -> Iterator[tuple[tuple[str, ...], LampMap]]:
    """Give the lamp map of every sense path, with its key path in the file."""
    yield ("lamps", "map"), lamps.map
    for name, path in lamps.paths.items():
        yield ("lamps", "paths", name, "map"), path.map


def channel_uses(rig: Rig) -> Iterator[Use]:
    """Give every place where a channel is used, in the file's order of sections."""
    if rig.keys is not None:
        for key, channel in rig.keys.map.items():
            yield Use(("keys", "map", key), channel, ("outputs",))
        for part in ("readback", "travel"):
            for key, channel in getattr(rig.keys, part).items():
                yield Use(("keys", part, key), channel, ("inputs",))
    if rig.input_test is not None:
        for level in ("high", "low"):
            channel = getattr(rig.input_test, level)
            if channel is not None:
                yield Use(("input_test", level), channel, ("outputs",))
    for role in ("cover_sense", "shake_sense", "fault_line"):
        channel = getattr(rig.roles, role)
        if channel is not None:
            yield Use(("roles", role), channel, ("inputs",))
    for role in ("shaker", "countdown"):
        wired = getattr(rig.roles, role)
        if isinstance(wired, (Machine, Timer)):
            for part in type(wired).model_fields:
                channel = getattr(wired, part)
                if isinstance(channel, Channel):
                    need: Capability = "outputs" if part == "start" else "inputs"
                    yield Use(("roles", role, part), channel, (need,))
    if rig.lamps is not None:
        for where, lamp_map in lamp_maps(rig.lamps):
            for area, channels in lamp_map.items():
                for channel in channels:
                    yield Use((*where, area), channel, ("inputs", "levels"))


def output_devices(rig: Rig) -> tuple[str, ...]:
    """Give the devices whose outputs a rig drives, in the file's order."""
    driven = {use.channel.device for use in channel_uses(rig) if "outputs" in use.needs}
    return tuple(name for name in rig.devices if name in driven)
