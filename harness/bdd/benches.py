"""What one rig file says it can do, as the capabilities that scenarios ask for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.bdd.capabilities import CAPABILITIES
from harness.dealing.entry import Terminal
from harness.diagnosis.facts import RigFacts
from harness.rules.judgement import Limits
from harness.rules.timeline import Setup

if TYPE_CHECKING:
    from harness.rig.sections import Rig


def capabilities_of(rig: Rig) -> frozenset[str]:
    """Give the names of everything this bench can do."""
    roles, table = rig.roles, rig.table
    has = {
        "keys": rig.keys is not None,
        "lamps": bool((rig.lamps is not None and rig.lamps.map) or roles.layout_camera),
        "presenter": roles.presenter is not None,
        "dice-camera": bool(roles.dice_camera),
        "shaker": roles.shaker is not None,
        "shake-sense": roles.shake_sense is not None,
        "cover": roles.cover is not None,
        "cover-sense": roles.cover_sense is not None,
        "countdown": roles.countdown is not None,
        "operator": roles.operator is not None,
        "supply": roles.supply is not None,
        "restart-limit": rig.limits.restart_ms is not None,
        "entry-timeout": None
        not in (rig.limits.entry_timeout_ms, rig.limits.entry_timeout_tolerance_ms),
        "interlock": rig.interlock.while_covered,
        "clear-key": has_clear_key(rig),
        "manual-shaker": table.shaker == "manual",
        "automated-shaker": table.shaker == "automated",
        "player-activated-shaker": table.shaker == "player-activated",
        "tumbler": table.shaker == "tumbler",
        "puncher": table.shaker == "puncher",
        "opaque-cover": table.cover == "opaque",
        "no-cover": table.cover == "none",
    }
    assert has.keys() <= CAPABILITIES.keys()
    return frozenset(name for name, there in has.items() if there)


def has_clear_key(rig: Rig) -> bool:
    """Tell whether the terminal is cleared by a key that this bench can press."""
    keys = rig.keys
    return keys is not None and (
        "clear" in keys.map or (keys.by is not None and rig.table.clear == "required")
    )


def setup_of(rig: Rig) -> Setup:
    """Give the equipment variant that stands on the bench."""
    return Setup(rig.table.shaker, rig.table.cover)


def terminal_of(rig: Rig) -> Terminal:
    """Give what dealing must know of the entry terminal."""
    timeout_ms, settle_ms = rig.limits.entry_timeout_ms, rig.limits.settle_ms
    terminal = Terminal(
        commit=rig.table.commit,
        has_clear=has_clear_key(rig),
        entry_timeout_s=None if timeout_ms is None else timeout_ms / 1000,
        fourth_key=rig.table.fourth_key,
    )
    return terminal if settle_ms is None else replace(terminal, settle_s=settle_ms / 1000)


def limits_of(rig: Rig) -> Limits:
    """Give what an entry on this bench is judged against."""
    settle_ms = rig.limits.settle_ms
    clears = has_clear_key(rig)
    return Limits(
        settle_s=None if settle_ms is None else (settle_ms + rig.limits.uncertainty_ms) / 1000,
        map_verified=rig.map_verified is not None,
        clear_required=clears,
        # Without a clear key the last result stays lit until the first key of the next entry.
        early_stages=(*(("before",) if clears else ()), "after-1", "after-2", "after-3"),
    )


def facts_of(rig: Rig) -> RigFacts:
    """Give what diagnosis may take for granted about this bench."""
    lamps = rig.lamps
    paths = tuple(lamps.paths) if lamps is not None else ()
    lamp_map = lamps.map if lamps is not None else {}
    devices = {channel.device for channels in lamp_map.values() for channel in channels}
    main_path = devices.pop() if len(devices) == 1 else "lamps"
    return RigFacts(
        map_verified=rig.map_verified is not None,
        commit=rig.table.commit,
        clear="required" if has_clear_key(rig) else "unspecified",
        fourth_key=rig.table.fourth_key,
        sense_paths=(*((main_path,) if lamp_map else ()), *paths, *rig.roles.layout_camera),
        lamp_channels={area: str(channels[0]) for area, channels in lamp_map.items()},
        lamp_level_min=rig.limits.lamp_level_min,
        dark_level_max=rig.limits.dark_level_max,
        level_uncertainty=rig.limits.uncertainty_level,
        settle_s=None if rig.limits.settle_ms is None else rig.limits.settle_ms / 1000,
        remembers_s=_remembers_s(rig),
    )


def _remembers_s(rig: Rig) -> float | None:
    """Give how long the terminal must keep a half-made entry at least, on the host's clock."""
    limits = rig.limits
    if limits.entry_timeout_ms is None:
        return None
    least_ms = limits.entry_timeout_ms - (limits.entry_timeout_tolerance_ms or 0.0)
    scale = rig.emulator.time_scale if rig.emulator else 1.0
    return (least_ms - limits.uncertainty_ms) / 1000 / scale
