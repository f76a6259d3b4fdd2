"""The rig file: what is on the bench, typed, frozen, and checked as a whole.

TOML. Every mistake is reported at once, with its file and key path; nothing is guessed. Included
files (`include`, paths relative to the including file) are merged under the including file, table
by table. Sections are the classes below; `[devices.NAME]` is what the device's driver says.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import BaseModel, BeforeValidator, Field, SerializeAsAny, StringConstraints
from pydantic import ValidationError as PydanticError

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
from harness.verdicts import ConfigurationError, InvalidFileError, Problem

DIGIT_KEYS = ("1", "2", "3", "4", "5", "6")
KeyName = Literal["1", "2", "3", "4", "5", "6", "clear", "enter", "call"]
AreaId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Percent = Annotated[float, Field(ge=0, le=100)]
NotNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]


class MapVerified(Section):
    """Who exercised each relay and each input alone, when, and how."""

    by: str = Field(min_length=1)
    at: date
    how: str = Field(min_length=1)


class Laboratory(Section):
    """Who tests; goes into the record of each run."""

    name: str
    operator: str | None = None
    accreditation: str | None = None


class Table(Section):
    """The table under test as it stands on this bench.

    tumbles: of one activation of a machine. lamp_drive: how its lamps are driven; lamp_hz: the
    modulation's or multiplex's frequency; lamp_duty: least part of its period that a good lamp is
    on (0.5 for PWM, 1/8 for multiplexed lamps, where the file does not say). mains_hz: cameras
    expose over whole mains periods.
    press_min_ms, press_max_ms: what its keys are meant to take. paytable: JSON file of the odds
    posted at the table, as `rules settle --paytable` takes it, relative to this rig file.
    """

    shaker: Literal["manual", "automated", "player-activated", "tumbler", "puncher"]
    cover: Literal["opaque", "none"]
    commit: Literal["third-key", "entry-key"] = "third-key"
    clear: Literal["required", "unspecified"] = "required"
    fourth_key: Literal["ignored", "last-three", "error"] = "ignored"
    tumbles: int = Field(default=3, ge=1)
    countdown_s: Positive | None = None
    paytable: str | None = None
    monitor: bool = False
    lamp_drive: Literal["steady", "pwm", "multiplexed"] = "steady"
    lamp_hz: Positive = 400.0
    lamp_duty: Annotated[float, Field(gt=0, le=1)] | None = None
    mains_hz: Literal[50, 60] = 50
    press_min_ms: NotNegative | None = None
    press_max_ms: Positive | None = None
    maker: str | None = None
    model: str | None = None
    serial_number: str | None = None
    firmware: str | None = None

    @property
    def least_duty(self) -> float:
        """Least part of the time that a good lamp is on."""
        if self.lamp_duty is not None:
            return self.lamp_duty
        return {"steady": 1.0, "pwm": 0.5, "multiplexed": 0.125}[self.lamp_drive]


class Emulator(Section):
    """The program that stands in for the bench. `{python}` is this interpreter; paths are relative
    to the rig file.

    It is called as PROGRAM RIGFILE [--fault TEXT]... and prints its endpoints. options: settings
    of its own, which the harness does not read.
    """

    program: tuple[str, ...] = Field(min_length=1)
    seed: int = 0
    time_scale: Positive = 1.0
    options: Mapping[str, Any] = Field(default_factory=dict)


class Keys(Section):
    """How keys are pressed: by outputs (map), or by a device that presses itself (by).

    hold_risk: outputs that neither time the press themselves nor have a watchdog stay closed when
    the host dies; on a real bench that has to be accepted by name. readback: inputs on the relays'
    second contacts; travel: inputs that sense the keys themselves.
    """

    press_ms: Positive = 100.0
    gap_ms: NotNegative = 50.0
    map: Mapping[KeyName, ChannelRef] = Field(default_factory=dict)
    by: str | None = None
    hold_risk: Literal["accepted"] | None = None
    readback: Mapping[KeyName, ChannelRef] = Field(default_factory=dict)
    travel: Mapping[KeyName, ChannelRef] = Field(default_factory=dict)


def _listed(value: object) -> object:
    return value if isinstance(value, (list, tuple)) else [value]


Lamps1 = Annotated[tuple[ChannelRef, ...], BeforeValidator(_listed), Field(min_length=1)]
LampMap = Mapping[AreaId, Lamps1]


class LampPath(Section):
    """A further way to sense the same lamps."""

    map: LampMap


class Lamps(Section):
    """Which channels sense which area; an area with several lamps lists them all.

    paths: independent further ways to sense them, by name; all ways are compared. lit_volts: from
    which voltage on a lamp sensed by level is lit; reference_volts: the level of a good lamp.
    """

    map: LampMap = Field(default_factory=dict)
    paths: Mapping[str, LampPath] = Field(default_factory=dict)
    lit_volts: Positive = 2.5
    reference_volts: Positive = 5.0


class Limits(Section):
    """What the table is held to on this bench; what is not set is not judged.

    Times in ms (table time), levels relative to a good lamp. uncertainty_ms, uncertainty_level and
    uncertainty_volts: expanded uncertainty (k = 2) of this bench's own measuring. stroke_ms: the
    shortest time that the shake sensor stays closed, or open, between strokes. shaker_start_ms,
    shaker_done_ms: hold a machine in place of its own section's start_s and done_s.
    """

    stroke_ms: Positive = 50.0

    settle_ms: Positive | None = None
    entry_timeout_ms: Positive | None = None
    entry_timeout_tolerance_ms: Positive | None = None
    press_ms: Positive | None = None
    lamp_level_min: Positive | None = None
    dark_level_max: Positive | None = None
    shaker_start_ms: Positive | None = None
    shaker_done_ms: Positive | None = None
    countdown_tolerance_percent: Percent | None = None
    restart_ms: Positive | None = None
    supply_volts: Positive | None = None
    supply_tolerance_volts: Positive | None = None
    supply_amperes_max: Positive | None = None
    uncertainty_ms: NotNegative = 0.0
    uncertainty_level: NotNegative = 0.0
    uncertainty_volts: NotNegative = 0.0


class InputTest(Section):
    """Relays of ours that put every lamp input of some devices to a known level.

    high: closed, every input must read true; low: closed, it parts the inputs from the lamps and
    every input must read false. So an input that is stuck is told from a lamp that is.
    """

    high: ChannelRef | None = None
    low: ChannelRef | None = None
    devices: tuple[str, ...] = Field(min_length=1)
    settle_ms: NotNegative = 50.0


class Interlock(Section):
    """When the terminal must refuse entries: before the call, while the dice are covered."""

    before_call: bool = False
    while_covered: bool = False


class Machine(Section):
    """A shaker machine on wires.

    A closed-and-opened start contact starts it; done is true at rest; fault is true while it
    raises its fault line.
    """

    start: ChannelRef
    done: ChannelRef
    fault: ChannelRef | None = None
    start_s: Positive = 2.0
    done_s: Positive = 30.0


class Timer(Section):
    """A countdown on wires: a start contact, and an input that is true while it runs."""

    start: ChannelRef
    running: ChannelRef


class Roles(Section):
    """Who does what: a device by name, or channels."""

    presenter: str | None = None
    shaker: str | Machine | None = None
    cover: str | None = None
    cover_sense: ChannelRef | None = None
    shake_sense: ChannelRef | None = None
    fault_line: ChannelRef | None = None
    dice_camera: tuple[str, ...] = ()
    layout_camera: tuple[str, ...] = ()
    countdown: str | Timer | None = None
    supply: str | None = None
    operator: str | None = None
    terminal: str | None = None


class Rig(Section):
    """A rig file, checked. `path` is the file, `files` it and all it includes."""

    path: Path
    files: tuple[Path, ...]
    title: str
    map_verified: MapVerified | None = None
    laboratory: Laboratory | None = None
    table: Table
    emulator: Emulator | None = None
    devices: Mapping[str, SerializeAsAny[DeviceSettings]]
    signals: Mapping[str, ChannelRef] = Field(default_factory=dict)
    keys: Keys | None = None
    lamps: Lamps | None = None
    limits: Limits = Limits()
    interlock: Interlock = Interlock()
    roles: Roles = Roles()
    references: Mapping[str, bool] = Field(default_factory=dict)
    input_test: InputTest | None = None

    @property
    def name(self) -> str:
        """The file's name without suffix."""
        return self.path.stem

    @property
    def emulated(self) -> bool:
        """Tell whether a program stands in for the bench."""
        return self.emulator is not None

    @property
    def output_devices(self) -> tuple[str, ...]:
        """Give the devices whose outputs this rig drives, in the file's order."""
        driven = {use.channel.device for use in channel_uses(self) if "outputs" in use.needs}
        return tuple(name for name in self.devices if name in driven)

    @property
    def hold_risk(self) -> bool:
        """Tell whether a key may stay pressed when this host dies: shown in every report."""
        return self.keys is not None and self.keys.hold_risk == "accepted"


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


def load_rig(path: Path, areas: Iterable[str] | None = None) -> Rig:
    """Read and check a rig file.

    areas: the ids of every area the rule book can light; each must have a lamp in the lamp map, if
    the file has one, and the map may name no other. Raises ConfigurationError if there is no such
    file, InvalidFileError with every mistake in it.
    """
    path = Path(path)
    merged = _Merged(path)
    return _Check(merged, None if areas is None else frozenset(areas)).rig()


class _Merged:
    """The file with its includes merged; knows which file set each key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files: list[Path] = []
        self.source: dict[tuple[str, ...], Path] = {}
        self.data = self._read(path, ())

    def _read(self, path: Path, chain: tuple[Path, ...]) -> dict[str, Any]:
        raw = _bytes(path, chain)
        self.files.append(path)
        try:
            data = tomllib.loads(raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            problem = Problem(f"line {line}", "UTF-8 text", f"byte {raw[error.start]:#04x}")
            raise InvalidFileError(str(path), [problem]) from None
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise InvalidFileError(str(path), [_syntax(error)]) from None
        include = data.pop("include", [])
        names = [include] if isinstance(include, str) else include
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            problem = Problem("include", "a list of file names", repr(include))
            raise InvalidFileError(str(path), [problem])
        merged: dict[str, Any] = {}
        for name in names:
            other = path.parent / name
            if other.resolve() in {known.resolve() for known in (*chain, path)}:
                problem = Problem("include", "files that do not include each other", name)
                raise InvalidFileError(str(path), [problem])
            _merge(merged, self._read(other, (*chain, path)))
        _merge(merged, data)
        self._mark(data, (), path)
        return merged

    def _mark(self, data: Mapping[str, Any], at: tuple[str, ...], path: Path) -> None:
        for key, value in data.items():
            self.source[(*at, key)] = path
            if isinstance(value, dict):
                self._mark(value, (*at, key), path)

    def file_of(self, where: tuple[str, ...]) -> Path:
        """Give the file that set a key, or its nearest table."""
        for size in range(len(where), 0, -1):
            if where[:size] in self.source:
                return self.source[where[:size]]
        return self.path


def _bytes(path: Path, chain: tuple[Path, ...]) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        found = (error.strerror or str(error)).lower()
        if chain:
            problem = Problem("include", f"a readable file {path}", found)
            raise InvalidFileError(str(chain[-1]), [problem]) from None
        raise ConfigurationError(
            str(path),
            expected="a rig file",
            found=found,
            remedy="give the path of a rig file, or the name of an embedded one",
        ) from None


def _syntax(error: Exception) -> Problem:
    match = re.search(r"^(.*?) \((?:at line (\d+), column (\d+)|at end of document)\)", str(error))
    if match is None:
        return Problem("file", "TOML", str(error) or "too deep a nesting")
    where = f"line {match[2]}, column {match[3]}" if match[2] else "end of file"
    return Problem(where, "TOML", match[1].lower())


def _merge(under: dict[str, Any], over: Mapping[str, Any]) -> None:
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(under.get(key), dict):
            _merge(under[key], value)
        else:
            under[key] = value


@dataclass(slots=True)
class Use:
    """One place where a channel is used."""

    where: tuple[str, ...]
    channel: Channel
    needs: tuple[Capability, ...]


@dataclass(slots=True)
class _Check:
    """One pass over a merged file that gathers every mistake."""

    merged: _Merged
    areas: frozenset[str] | None
    problems: list[tuple[Path, Problem]] = field(default_factory=list)
    classes: dict[str, type[Driver]] = field(default_factory=dict)
    settings: dict[str, DeviceSettings] = field(default_factory=dict)

    def rig(self) -> Rig:
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
            self._problem(("title",), "text", repr(title), "put it in quotes")
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
            self._problem(where, f"a section [{_dotted(where)}]", repr(value))
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
            self._problem(at, expected, found or repr(mistake["input"]))
        elif kind == "literal_error":
            shown = mistake["input"]
            known = [word.strip("'") for word in re.findall(r"'[^']*'", mistake["msg"])]
            hint = did_you_mean(shown, known) if isinstance(shown, str) else ""
            self._problem(at, mistake["ctx"]["expected"], f"{shown!r}{hint}")
        else:
            self._problem(at, _lower_first(mistake["msg"]), repr(mistake["input"]))

    def _devices(self, section: object) -> dict[str, DeviceSettings]:
        devices: dict[str, DeviceSettings] = {}
        if not isinstance(section, dict):
            self._problem(("devices",), "sections [devices.NAME]", repr(section))
            return devices
        for name, value in section.items():
            where = ("devices", name)
            if not re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", name):
                self._problem(where, "a name of small letters, digits and dashes", repr(name))
            if not isinstance(value, dict):
                self._problem(where, "a section", repr(value))
                continue
            driver = value.get("driver")
            if not isinstance(driver, str) or driver not in registered():
                known = sorted(registered())
                hint = did_you_mean(driver, known) if isinstance(driver, str) else ""
                found = "none" if driver is None else f"{driver!r}{hint}"
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
            self._problem(("signals",), "a section [signals]", repr(section))
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
            self._problem(("references",), "a section [references]", repr(section))
            return []
        references = []
        for name, level in section.items():
            where = ("references", name)
            if not isinstance(level, bool):
                self._problem(where, "true or false", repr(level))
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
        for where, lamp_map in _lamp_maps(lamps):
            if where == ("lamps", "map"):
                for area in sorted(wanted - set(lamp_map)):
                    self._problem((*where, area), "a channel for this area", "none", "add it")
            for area in lamp_map:
                if area not in wanted:
                    hint = did_you_mean(area, wanted)
                    self._problem((*where, area), "an area of the rules", f"{area!r}{hint}")


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


def _lamp_maps(lamps: Lamps) -> Iterator[tuple[tuple[str, ...], LampMap]]:
    yield ("lamps", "map"), lamps.map
    for name, path in lamps.paths.items():
        yield ("lamps", "paths", name, "map"), path.map


def _role_devices(roles: Roles) -> Iterator[tuple[str, list[tuple[tuple[str, ...], str]]]]:
    for role in _ROLE_NEEDS:
        value = getattr(roles, role)
        if isinstance(value, str):
            yield role, [((), value)]
        elif isinstance(value, tuple):
            yield role, [((str(i),), name) for i, name in enumerate(value)]


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
        for where, lamp_map in _lamp_maps(rig.lamps):
            for area, channels in lamp_map.items():
                for channel in channels:
                    yield Use((*where, area), channel, ("inputs", "levels"))
