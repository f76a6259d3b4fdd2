"""The rig file as the emulator understands it: which wires to stand in for, and on what table.

Only what concerns the bench's far side is read. Whoever drives the rig checks the file as a whole.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


class RigFileError(Exception):
    """The rig file cannot be emulated; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel of a device; `inverted` if the rig reads or drives it the other way round."""

    device: str
    name: str
    inverted: bool = False

    @property
    def place(self) -> tuple[str, str]:
        """Give the channel without its sense."""
        return self.device, self.name


@dataclass(frozen=True, slots=True)
class Device:
    """A device of the rig file: its name, its driver's name and all its settings."""

    name: str
    driver: str
    settings: Mapping[str, object]

    def text(self, key: str, default: str) -> str:
        """Give a setting that is a word."""
        value = self.settings.get(key, default)
        if not isinstance(value, str):
            raise RigFileError(f"devices.{self.name}.{key}: expected a word, found {value!r}")
        return value

    def whole(self, key: str, default: int) -> int:
        """Give a setting that is a whole number."""
        value = self.settings.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise RigFileError(
                f"devices.{self.name}.{key}: expected a whole number, found {value!r}"
            )
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Give a setting that is true or false."""
        value = self.settings.get(key, default)
        if not isinstance(value, bool):
            raise RigFileError(
                f"devices.{self.name}.{key}: expected true or false, found {value!r}"
            )
        return value


Section = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RigFile:
    """What the emulator needs of a rig file.

    `lamps` are the lamp maps by sense path, the main one under the empty name; `options` are the
    emulator's own settings, `[emulator]` with `[emulator.options]` over it.
    """

    path: Path
    devices: Mapping[str, Device]
    keys: Mapping[str, tuple[Channel, ...]]
    lamps: Mapping[str, Mapping[str, tuple[Channel, ...]]]
    readback: Mapping[str, tuple[Channel, ...]]
    travel: Mapping[str, tuple[Channel, ...]]
    roles: Mapping[str, object]
    references: Mapping[tuple[str, str], bool]
    table: Section = field(default_factory=dict)
    options: Section = field(default_factory=dict)
    own_options: Section = field(default_factory=dict)
    interlock: Section = field(default_factory=dict)
    input_test: Section = field(default_factory=dict)
    limits: Section = field(default_factory=dict)
    lamp_settings: Section = field(default_factory=dict)
    signals: Mapping[str, object] = field(default_factory=dict)

    def channels(self, where: str, value: object) -> tuple[Channel, ...]:
        """Read a channel, an alias, a table with `channel` and `invert`, or a list of them."""
        return tuple(_channels(where, value, self.signals, self.devices))


def number(section: Section, key: str, default: float, where: str) -> float:
    """Give a setting that is a number."""
    value = section.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RigFileError(f"{where}.{key}: expected a number, found {value!r}")
    return float(value)


def word(section: Section, key: str, allowed: Sequence[str], where: str) -> str:
    """Give a setting that is one of a few words; the first is the default."""
    value = section.get(key, allowed[0])
    if not isinstance(value, str) or value not in allowed:
        raise RigFileError(f"{where}.{key}: expected {' or '.join(allowed)}, found {value!r}")
    return value


def table(section: Section, key: str, where: str) -> Section:
    """Give a table of the file, empty if it is not there."""
    value = section.get(key, {})
    if not isinstance(value, dict):
        raise RigFileError(f"{where}{key}: expected a table, found {value!r}")
    return value


def lamp_places(places: object) -> list[list[float]]:
    """Give the places of an area's lamps before a layout camera: one, or a list of them."""
    listed = places if isinstance(places, list) else []
    return listed if listed and isinstance(listed[0], list) else [listed]


def read_rig_file(path: Path) -> RigFile:
    """Read a rig file with its includes.

    Raises `RigFileError` with one line for a file that cannot be read or wired.
    """
    data = _load(path, ())
    devices = {}
    for name, settings in table(data, "devices", "").items():
        driver = settings.get("driver") if isinstance(settings, dict) else None
        if not (isinstance(settings, dict) and isinstance(driver, str)):
            raise RigFileError(f"{path}: devices.{name}: expected a table with a driver")
        devices[name] = Device(name, driver, settings)
    signals = table(data, "signals", "")
    emulator = table(data, "emulator", "")
    options = {**emulator, **table(emulator, "options", "emulator.")}
    wiring = table(options, "wiring", "emulator.options.")
    keys, lamps = table(data, "keys", ""), table(data, "lamps", "")

    def wired(where: str, mapped: Section, rewired: Section) -> dict[str, tuple[Channel, ...]]:
        return {
            str(name): tuple(_channels(f"{where}.{name}", value, signals, devices))
            for name, value in {**mapped, **rewired}.items()
        }

    try:
        references = {}
        for text, level in table(data, "references", "").items():
            (channel,) = _channels(f"references.{text}", text, signals, devices)
            references[channel.place] = _level(text, level) is not channel.inverted
        paths = table(lamps, "paths", "lamps.")
        lamp_paths = {}
        for name in paths:
            path_of, where = table(paths, name, "lamps.paths."), f"lamps.paths.{name}."
            lamp_paths[name] = wired(f"{where}map", table(path_of, "map", where), {})
        rewired = {part: table(wiring, part, "wiring.") for part in ("keys", "lamps", "roles")}
        main = wired("lamps.map", table(lamps, "map", "lamps."), rewired["lamps"])
        return RigFile(
            path=path,
            devices=devices,
            keys=wired("keys.map", table(keys, "map", "keys."), rewired["keys"]),
            lamps={"": main, **lamp_paths},
            readback=wired("keys.readback", table(keys, "readback", "keys."), {}),
            travel=wired("keys.travel", table(keys, "travel", "keys."), {}),
            roles={**table(data, "roles", ""), **rewired["roles"]},
            references=references,
            table=table(data, "table", ""),
            options=options,
            own_options=table(emulator, "options", "emulator."),
            interlock=table(data, "interlock", ""),
            input_test=table(data, "input_test", ""),
            limits=table(data, "limits", ""),
            lamp_settings=lamps,
            signals=signals,
        )
    except RigFileError as error:
        raise RigFileError(f"{path}: {error}") from None


def _level(text: str, level: object) -> bool:
    if not isinstance(level, bool):
        raise RigFileError(f"references.{text}: expected true or false, found {level!r}")
    return level


def _load(path: Path, including: tuple[Path, ...]) -> dict[str, object]:
    if path.resolve() in including:
        raise RigFileError(f"{path}: includes itself")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RigFileError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RigFileError(f"{path}: is not a TOML file: {error}") from None
    includes = data.pop("include", [])
    if isinstance(includes, str):
        includes = [includes]
    merged: dict[str, object] = {}
    for name in includes:
        merged = _merge(merged, _load(path.parent / str(name), (*including, path.resolve())))
    return _merge(merged, data)


def _merge(under: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    merged = dict(under)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = (
            _merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
        )
    return merged


def _channels(
    where: str, value: object, signals: Section, devices: Mapping[str, Device]
) -> Iterator[Channel]:
    if isinstance(value, list):
        for each in value:
            yield from _channels(where, each, signals, devices)
    elif isinstance(value, dict) and "channel" in value:
        inverted = bool(value.get("invert", False))
        for channel in _channels(where, value["channel"], signals, devices):
            yield Channel(channel.device, channel.name, channel.inverted != inverted)
    elif isinstance(value, str) and value in signals:
        rest = {name: target for name, target in signals.items() if name != value}
        yield from _channels(where, signals[value], rest, devices)
    else:
        text = value if isinstance(value, str) else ""
        device, _, name = text.partition(":")
        if not (device and name):
            raise RigFileError(f"{where}: expected DEVICE:CHANNEL or a signal, found {value!r}")
        if device not in devices:
            raise RigFileError(f"{where}: there is no device {device!r} in the file")
        yield Channel(device, name)
