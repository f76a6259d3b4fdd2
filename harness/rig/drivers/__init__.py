"""Drivers, one device each, found by name through the entry-point group `sicbo_hil.drivers`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from harness.rig.device import Driver
from harness.verdicts import ConfigurationError

GROUP = "sicbo_hil.drivers"


@cache
def registered() -> dict[str, EntryPoint]:
    """Give every registered driver by name.

    Raises ConfigurationError if two packages register different drivers under one name.
    """
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        other = found.setdefault(point.name, point)
        if other.value != point.value:
            raise ConfigurationError(
                f"driver {point.name}",
                expected="one driver of this name",
                found=f"{other.value} and {point.value}",
                remedy="uninstall one of the packages, or have its maker rename the driver",
            )
    return found


def driver_class(name: str) -> type[Driver]:
    """Load the driver registered under a name.

    Raises ConfigurationError if there is none, or if it cannot be loaded.
    """
    point = registered().get(name)
    if point is None:
        raise ConfigurationError(
            f"driver {name}",
            expected=f"one of {', '.join(sorted(registered()))}",
            found="no such driver",
            remedy="correct the name, or install the package that brings it",
        )
    try:
        loaded = point.load()
    except Exception as error:
        raise ConfigurationError(
            f"driver {name}",
            expected=f"{point.value} to load",
            found=f"{type(error).__name__}: {error}",
            remedy="install what the driver needs",
        ) from error
    for need in ("settings_type", "provides", "open"):
        if not hasattr(loaded, need):
            raise ConfigurationError(
                f"driver {name}",
                expected=f"a class with {need}",
                found=point.value,
                remedy="see harness.rig.device.Driver",
            )
    return loaded  # type: ignore[no-any-return]
