"""The emulator's own settings, `[emulator.options]` of a rig file. Times in ms of bench time.

| option | default | what it sets |
|---|---|---|
| `settle_ms` | 10 | from an entry's last key to its lamps |
| `entry_timeout_ms` | the rig's limit, or 10000 | when a half-made entry is dropped; 0 never |
| `hold_ms` | 0 | how long a result stays lit by itself; 0 until it is cleared |
| `lamp_duty` | 0.6 | share of the period in which PWM drives a lamp |
| `stroke_ms`, `thrown_ms`, `rest_ms` | 120, 60, 50 | a stroke, the dice up in it, coming to rest |
| `daq_channel_ms` | 0.5 | wall time of one voltage of a data acquisition unit |
| `numato_newline` | `lf-cr` | line ends of a Numato module: `lf-cr`, `cr`, `cr-lf` |
| `numato_notifications` | 0 | share of its replies with a notification in between |
| `[…options.scene]` | | `style` of the dice, `hand` of their faces, `tilt_deg` of the camera |
| `hard` in `scene` | false | a scene as hard to read as the seed draws it, instead of a fair one |
| `[…options.buses]` | | name of a bus = list of devices that share its port |
| `rfc2217` | `[]` | devices whose serial port is reached over the network |
| `[…options.wiring.keys]`, `.lamps`, `.roles` | the maps | what is really wired, where it differs |
"""

from __future__ import annotations

import difflib

from harness.emulator.rigfile import RigFile, RigFileError, table

KNOWN = frozenset(
    {
        "settle_ms",
        "entry_timeout_ms",
        "hold_ms",
        "lamp_duty",
        "stroke_ms",
        "thrown_ms",
        "rest_ms",
        "daq_channel_ms",
        "numato_newline",
        "numato_notifications",
        "scene",
        "buses",
        "rfc2217",
        "wiring",
    }
)
_INNER = {
    "scene": frozenset({"style", "hand", "tilt_deg", "hard"}),
    "wiring": frozenset({"keys", "lamps", "roles"}),
}


def check_options(rig: RigFile) -> None:
    """Refuse an option that there is not. Raises `RigFileError`."""
    _check(rig, "emulator.options", rig.own_options, KNOWN)
    for section, known in _INNER.items():
        where = f"emulator.options.{section}"
        _check(rig, where, table(rig.own_options, section, "emulator.options."), known)


def _check(rig: RigFile, where: str, found: object, known: frozenset[str]) -> None:
    for key in found if isinstance(found, dict) else ():
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else f"; known are {sorted(known)}"
            raise RigFileError(f"{rig.path}: {where}: there is no option {key!r}{hint}")
