"""A rig file is checked as a whole: every mistake at once, each with its file and key path."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from pydantic import BaseModel, Field
from pydantic import ValidationError as PydanticError

from harness.rig.channel_uses import Use, channel_uses, lamp_maps
from harness.rig.channels import Channel, ChannelRef, did_you_mean
from harness.rig.device import (
    EMULATED,
    Capability,
    DeviceSettings,
    Driver,
    Section,
    SerialSettings,
)
from harness.rig.drivers import driver_class, registered
from harness.rig.includes import Merged
from harness.rig.sections import (
    DIGIT_KEYS,
    Emulator,
    InputTest,
    Interlock,
    Keys,
    Laboratory,
    Lamps,
    Limits,
    MapVerified,
    Rig,
    Roles,
    Table,
)
from harness.verdicts import InvalidFileError, Problem, as_toml

_ROLE_NEEDS: Mapping[str, Capability] = {
    "presenter": "presenter",
    "shaker": "shaker",
    "cover": "cover",
    "dice_camera": "camera",
    "layout_camera": "camera",
    "countdown": "countdown",
    "supply": "supply",
    "operator": "operator",
    "terminal": "terminal",
}


_KEYED = ("extra_forbidden", "missing")
_SECTIONS: Mapping[str, type[BaseModel] | None] = {
    "map_verified": MapVerified,
    "laboratory": Laboratory,
    "table": Table,
    "emulator": Emulator,
    "devices": None,
    "signals": None,
    "keys": Keys,
    "lamps": Lamps,
    "limits": Limits,
    "interlock": Interlock,
    "roles": Roles,
    "references": None,
    "input_test": InputTest,
}


class _OneSignal(Section):
    channel: ChannelRef = Field(alias="as")


def _dotted(where: Iterable[str]) -> str:
    return ".".join(part if re.fullmatch(r"[\w-]+", part) else f'"{part}"' for part in where)


def _lower_first(text: str) -> str:
    text = text.removeprefix("Input should be ")
    return text[:1].lower() + text[1:]


def _fields_at(model: type[BaseModel], loc: tuple[Any, ...]) -> list[str]:
    """Give the known keys of the section that a key path leads to."""
    for part in loc:
        info = model.model_fields.get(str(part))
        if info is None:
            continue
        nested = [
            kind
            for kind in _types_in(info.annotation)
            if isinstance(kind, type) and issubclass(kind, BaseModel)
        ]
        if nested:
            model = nested[-1]
    return list(model.model_fields)


def _types_in(annotation: Any) -> Iterator[Any]:
    yield annotation
    for inner in get_args(annotation):
        yield from _types_in(inner)


@dataclass(slots=True)
class Check:
    """One pass over a merged file that gathers every mistake."""

    merged: Merged
    areas: frozenset[str] | None
    problems: list[tuple[Path, Problem]] = field(default_factory=list)
    classes: dict[str, type[Driver]] = field(default_factory=dict)
    settings: dict[str, DeviceSettings] = field(default_factory=dict)

    def rig(self) -> Rig:
        """Give the rig. Raises InvalidFileError with every mistake."""
        data = self.merged.data
        for key in data:
            if key not in _SECTIONS and key != "title":
                hint = did_you_mean(key, (*_SECTIONS, "title", "include"))
                self._problem((key,), "a known key", f"{key!r}{hint}", "remove or correct it")
        devices = self.settings = self._devices(data.get("devices", {}))
        signals = self._signals(data.get("signals", {}))
        values: dict[str, Any] = {}
        for key, model in _SECTIONS.items():
            if model is None or key not in data:
                continue
            value = self._section((key,), model, data[key], signals)
            if value is not None:
                values[key] = value
        if "table" not in data:
            self._problem(("table",), "a section [table]", "none", "say what table is tested")
        title = data.get("title", self.merged.path.stem)
        if not isinstance(title, str):
            self._problem(("title",), "text", as_toml(title), "put it in quotes")
            title = ""
        references = self._references(data.get("references", {}), signals)
        rig = Rig.model_construct(
            path=self.merged.path,
            files=tuple(self.merged.files),
            title=title,
            devices=devices,
            signals=signals,
            references={str(channel): level for channel, level in references},
            **values,
        )
        self._cross_check(rig, references)
        if self.problems:
            shown = [
                problem
                if file == self.merged.path
                else Problem(
                    f"{problem.where} (in {file})", problem.expected, problem.found, problem.remedy
                )
                for file, problem in self.problems
            ]
            raise InvalidFileError(str(self.merged.path), shown)
        return rig

    def _problem(
        self, where: tuple[str, ...], expected: str, found: str, remedy: str = "correct it"
    ) -> None:
        problem = Problem(_dotted(where), expected, found, remedy)
        entry = (self.merged.file_of(where), problem)
        if entry not in self.problems:
            self.problems.append(entry)

    def _section(
        self,
        where: tuple[str, ...],
        model: type[BaseModel],
        value: object,
        signals: Mapping[str, Channel],
    ) -> BaseModel | None:
        if not isinstance(value, dict):
            self._problem(where, f"a section [{_dotted(where)}]", as_toml(value))
            return None
        try:
            return model.model_validate(value, context={"signals": signals})
        except PydanticError as error:
            for mistake in error.errors():
                self._mistake(where, model, cast("dict[str, Any]", mistake), value)
            return None

    def _mistake(
        self,
        where: tuple[str, ...],
        model: type[BaseModel],
        mistake: dict[str, Any],
        value: Mapping[str, Any],
    ) -> None:
        """Turn one of pydantic's errors into a problem a person can act on."""
        loc = tuple(part for part in mistake["loc"] if part != "[key]")
        path = [*where]
        inside: object = value
        for part in loc:
            if isinstance(inside, dict) and part not in inside and mistake["type"] not in _KEYED:
                continue  # the name of a union's member, no key of the file
            path.append(str(part))
            if isinstance(inside, dict):
                inside = inside.get(part)
            elif isinstance(inside, (list, tuple)) and isinstance(part, int):
                inside = inside[part] if part < len(inside) else None
        at = tuple(path)
        kind = mistake["type"]
        if kind == "extra_forbidden":
            known = _fields_at(model, loc[:-1])
            hint = did_you_mean(str(loc[-1]), known)
            found = f"{loc[-1]!r}{hint}"
            self._problem(at, f"one of {', '.join(sorted(known))}", found, "remove or correct it")
        elif kind == "missing":
            self._problem(at, "this key", "none", "add it")
        elif kind == "value_error":
            expected, _, found = str(mistake["ctx"]["error"]).partition(", found ")
            self._problem(at, expected, found or as_toml(mistake["input"]))
        elif kind == "literal_error":
            shown = mistake["input"]
            known = [word.strip("'") for word in re.findall(r"'[^']*'", mistake["msg"])]
            hint = did_you_mean(shown, known) if isinstance(shown, str) else ""
            self._problem(at, mistake["ctx"]["expected"], as_toml(shown) + hint)
        else:
            self._problem(at, _lower_first(mistake["msg"]), as_toml(mistake["input"]))

    def _devices(self, section: object) -> dict[str, DeviceSettings]:
        devices: dict[str, DeviceSettings] = {}
        if not isinstance(section, dict):
            self._problem(("devices",), "sections [devices.NAME]", as_toml(section))
            return devices
        for name, value in section.items():
            where = ("devices", name)
            if not re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", name):
                self._problem(where, "a name of small letters, digits and dashes", repr(name))
            if not isinstance(value, dict):
                self._problem(where, "a section", as_toml(value))
                continue
            driver = value.get("driver")
            if not isinstance(driver, str) or driver not in registered():
                known = sorted(registered())
                hint = did_you_mean(driver, known) if isinstance(driver, str) else ""
                found = "none" if driver is None else as_toml(driver) + hint
                self._problem((*where, "driver"), f"one of {', '.join(known)}", found)
                continue
            kind = driver_class(driver)
            self.classes[name] = kind
            settings = self._section(where, kind.settings_type, value, {})
            if settings is not None:
                devices[name] = self._located(cast("DeviceSettings", settings), where)
        return devices

    def _located(self, settings: DeviceSettings, where: tuple[str, ...]) -> DeviceSettings:
        """Take file paths as relative to the file that names them."""
        update: dict[str, object] = {}
        for key in settings.path_fields:
            value = getattr(settings, key)
            if isinstance(value, str) and value != EMULATED and "://" not in value:
                if value.isdigit() or Path(value).is_absolute():
                    continue
                update[key] = str(self.merged.file_of((*where, key)).parent / value)
        return settings.model_copy(update=update) if update else settings

    def _signals(self, section: object) -> dict[str, Channel]:
        if not isinstance(section, dict):
            self._problem(("signals",), "a section [signals]", as_toml(section))
            return {}
        signals: dict[str, Channel] = {}
        for name, value in section.items():
            if ":" in name or name in self.merged.data.get("devices", {}):
                self._problem(
                    ("signals", name), "a name without a colon that no device has", repr(name)
                )
                continue
            made = self._section(("signals", name), _OneSignal, {"as": value}, {})
            if made is not None:
                signals[name] = cast("_OneSignal", made).channel
        return signals

    def _references(
        self, section: object, signals: Mapping[str, Channel]
    ) -> list[tuple[Channel, bool]]:
        if not isinstance(section, dict):
            self._problem(("references",), "a section [references]", as_toml(section))
            return []
        references = []
        for name, level in section.items():
            where = ("references", name)
            if not isinstance(level, bool):
                self._problem(where, "true or false", as_toml(level))
                continue
            made = self._section(where, _OneSignal, {"as": name}, signals)
            if made is not None:
                channel = cast("_OneSignal", made).channel
                references.append((channel, level != channel.invert))
        return references

    # -- what only shows when sections are held against each other

    def _cross_check(self, rig: Rig, references: list[tuple[Channel, bool]]) -> None:
        uses = list(channel_uses(rig))
        uses += [
            Use(("references", str(channel)), channel, ("inputs",)) for channel, _ in references
        ]
        self._check_channels(uses)
        self._check_roles(rig)
        self._check_ports(rig)
        if hasattr(rig, "table"):
            self._check_exposures(rig)
            if rig.keys is not None:
                self._check_keys(rig, rig.keys)
        if rig.lamps is not None and self.areas is not None:
            self._check_areas(rig.lamps)

    def _named_devices(self) -> list[str]:
        devices = self.merged.data.get("devices", {})
        return list(devices) if isinstance(devices, dict) else []

    def _check_channels(self, uses: list[Use]) -> None:
        first: dict[tuple[str, str], Use] = {}
        for use in uses:
            channel = use.channel
            if channel.device not in self._named_devices():
                hint = did_you_mean(channel.device, self._named_devices())
                self._problem(use.where, "a device of this file", f"{channel.device!r}{hint}")
                continue
            kind = self.classes.get(channel.device)
            if kind is not None and not kind.provides & set(use.needs):
                able = " or ".join(use.needs)
                self._problem(use.where, f"a device with {able}", f"{channel.device!r}")
                continue
            settings = self.settings.get(channel.device)
            use_as: Capability = next(
                (need for need in reversed(use.needs) if kind and need in kind.provides), "inputs"
            )
            wrong = settings.channel_problem(channel.channel, use_as) if settings else None
            if wrong is not None:
                self._problem(use.where, wrong, repr(channel.channel))
            if channel.invert and use_as == "outputs":
                self._problem(
                    use.where,
                    "an output that is open at rest",
                    "invert = true",
                    "wire the key to the normally open contact",
                )
            key = (channel.device, channel.channel)
            if key in first:
                self._problem(
                    use.where,
                    "a channel used once",
                    f"{channel}, used by {_dotted(first[key].where)} too",
                    "correct the one that is wrong",
                )
            first.setdefault(key, use)

    def _check_roles(self, rig: Rig) -> None:
        named = [
            (("roles", role, *more), name, _ROLE_NEEDS[role])
            for role, names in _role_devices(rig.roles)
            for more, name in names
        ]
        if rig.keys is not None and rig.keys.by is not None:
            named.append((("keys", "by"), rig.keys.by, "keys"))
        for i, name in enumerate(rig.input_test.devices if rig.input_test else ()):
            named.append((("input_test", "devices", str(i)), name, "inputs"))
        for where, name, need in named:
            if name not in self._named_devices():
                hint = did_you_mean(name, self._named_devices())
                self._problem(where, "a device of this file", f"{name!r}{hint}")
            elif name in self.classes and need not in self.classes[name].provides:
                self._problem(where, f"a device that serves as {need}", repr(name))

    def _check_exposures(self, rig: Rig) -> None:
        """A camera that looks at lamps exposes over whole half periods of the mains."""
        half_ms = 500.0 / rig.table.mains_hz
        for name in rig.roles.layout_camera:
            exposure_ms = getattr(rig.devices.get(name), "exposure_ms", None)
            if exposure_ms is None:
                continue
            periods = exposure_ms / half_ms
            if round(periods) < 1 or abs(periods - round(periods)) > 0.02 * periods:
                self._problem(
                    ("devices", name, "exposure_ms"),
                    f"whole half periods of the mains, {half_ms:.4g} ms each",
                    f"{exposure_ms:g} ms",
                )

    def _check_ports(self, rig: Rig) -> None:
        shared: dict[str, dict[str, SerialSettings]] = defaultdict(dict)
        for name, settings in rig.devices.items():
            where = ("devices", name)
            if settings.location == EMULATED:
                if "emulator" not in self.merged.data:
                    self._problem(
                        where,
                        "a real address on a bench without [emulator]",
                        '"emulated"',
                        "give the port or address, or add [emulator]",
                    )
                continue
            if not isinstance(settings, SerialSettings):
                continue
            for other, theirs in shared[settings.port].items():
                self._check_neighbours(where, settings, other, theirs)
            shared[settings.port][name] = settings

    def _check_neighbours(
        self, where: tuple[str, ...], settings: SerialSettings, other: str, theirs: SerialSettings
    ) -> None:
        """Check a device against one that is on the same port."""
        if settings.framing != theirs.framing:
            self._problem(
                where,
                f"the baud rate and framing of device {other}, on the same port",
                f"{settings.baud} {settings.parity} {settings.stop}",
            )
        if None in (settings.bus_address, theirs.bus_address):
            self._problem(where, "a port that it shares with no other device", f"that of {other}")
        elif settings.bus_address == theirs.bus_address:
            self._problem(
                where,
                f"another unit number than device {other}'s on {settings.port}",
                str(settings.bus_address),
            )

    def _check_keys(self, rig: Rig, keys: Keys) -> None:
        if bool(keys.map) == (keys.by is not None):
            self._problem(
                ("keys",), "either [keys.map] or by", "both" if keys.map else "neither", "keep one"
            )
            return
        if not keys.map:
            return
        needed = list(DIGIT_KEYS)
        needed += ["enter"] if rig.table.commit == "entry-key" else []
        needed += ["clear"] if rig.table.clear == "required" else []
        for key in needed:
            if key not in keys.map:
                self._problem(("keys", "map", key), "an output for this key", "none", "add it")
        steps: dict[str, int] = {}
        for key, channel in keys.map.items():
            settings = rig.devices.get(channel.device)
            if settings is None:
                continue
            if settings.press_step_ms is not None:
                steps[channel.device] = settings.press_step_ms
            if not rig.emulated and not settings.releases_itself and keys.hold_risk is None:
                self._problem(
                    ("keys", "map", key),
                    "an output that opens by itself when this host dies",
                    f"{channel}, which the host times",
                    'use timed pulses or a watchdog, or set hold_risk = "accepted"',
                )
        for device, step in steps.items():
            if keys.press_ms < step or keys.press_ms % step:
                self._problem(
                    ("keys", "press_ms"),
                    f"a whole number of {device}'s steps of {step} ms",
                    f"{keys.press_ms:g} ms",
                )

    def _check_areas(self, lamps: Lamps) -> None:
        wanted = self.areas or frozenset()
        for where, lamp_map in lamp_maps(lamps):
            if where == ("lamps", "map"):
                for area in sorted(wanted - set(lamp_map)):
                    self._problem((*where, area), "a channel for this area", "none", "add it")
            for area in lamp_map:
                if area not in wanted:
                    hint = did_you_mean(area, wanted)
                    self._problem((*where, area), "an area of the rules", f"{area!r}{hint}")


def _role_devices(roles: Roles) -> Iterator[tuple[str, list[tuple[tuple[str, ...], str]]]]:
    for role in _ROLE_NEEDS:
        value = getattr(roles, role)
        if isinstance(value, str):
            yield role, [((), value)]
        elif isinstance(value, tuple):
            yield role, [((str(i),), name) for i, name in enumerate(value)]
