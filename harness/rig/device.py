"""What every device has: a section of the rig file, a driver, channels, and a record of its link.

A driver is a class like `Driver`, which opens a `Device`; it is registered by name in the
entry-point group `sicbo_hil.drivers`. Channels are named by a driver's own strings (mostly
numbers); `Outputs`, `Inputs` and `Levels` are what channels can do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from typing import ClassVar, Literal, Protocol, Self, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field

from harness.rig.errors import (
    CorruptReplyError,
    DeviceRefusalError,
    RigError,
    ShortReplyError,
    WrongEchoError,
    WrongFunctionError,
    WrongUnitError,
)
from harness.rig.serial_line import Framing, SerialLine
from harness.verdicts import ConfigurationError

EMULATED = "emulated"
"""Stands in a rig file for an address that the emulator gives at its start."""

SPOILT = (
    CorruptReplyError,
    ShortReplyError,
    WrongEchoError,
    WrongFunctionError,
    WrongUnitError,
)
"""Replies that came but cannot be used: a read may be repeated after one."""

_BUSY = 6
"""MODBUS Application Protocol, 7: the server works on a long command; ask again later."""
_BUSY_PAUSE_S = 0.05

Capability = Literal[
    "outputs",
    "inputs",
    "levels",
    "keys",
    "presenter",
    "shaker",
    "cover",
    "camera",
    "countdown",
    "supply",
    "operator",
    "terminal",
]


class Section(BaseModel):
    """A part of a rig file: frozen, and no key that is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DeviceSettings(Section):
    """What every `[devices.NAME]` section may say.

    identity: text that the device's own identification must contain. serial_number, calibrated,
    calibration_due and certificate go into the record of a run; a device past its due date fails
    the self-check.
    """

    path_fields: ClassVar[tuple[str, ...]] = ()
    """Names of settings that are file paths, relative to the rig file."""

    driver: str
    identity: str | None = None
    serial_number: str | None = None
    calibrated: date | None = None
    calibration_due: date | None = None
    certificate: str | None = None

    location_field: ClassVar[str | None] = None
    """Name of the setting that says where the device is (port, address)."""

    @property
    def location(self) -> str | None:
        """Where the device is, as locked; `emulated` until an emulator gave the place."""
        return None if self.location_field is None else str(getattr(self, self.location_field))

    def placed(self, endpoint: str) -> Self:
        """Give these settings with the place that an emulator gave."""
        if self.location_field is None:
            return self
        return self.model_copy(update={self.location_field: endpoint})

    @property
    def shareable(self) -> bool:
        """Tell whether several harnesses may use the place at one time."""
        return False

    def channel_problem(self, channel: str, use: Capability) -> str | None:
        """Say what a channel must be to be used as `use`, if this one is wrong."""
        return f"no channel (this driver has none), not {channel!r}"

    @property
    def has_checksum(self) -> bool:
        """Tell whether a reply carries a checksum, so that a spoilt one shows by itself."""
        return True

    @property
    def press_step_ms(self) -> int | None:
        """The step in which the device times a press itself, or None if the host times it."""
        return None

    @property
    def releases_itself(self) -> bool:
        """Tell whether outputs open by themselves when the host dies (pulse or watchdog)."""
        return self.press_step_ms is not None


def numbered(channel: str, count: int) -> str | None:
    """Check a channel that must be a number from 0 to `count - 1`."""
    if channel.isascii() and channel.isdigit() and int(channel) < count:
        return None
    return f"a channel from 0 to {count - 1}"


class SerialSettings(DeviceSettings):
    """A device on a serial port: a tty path or a pyserial URL.

    reply_ms: longest time to the start of a reply. late_ms: how long after that a late reply is
    waited for, to be thrown away.
    """

    location_field: ClassVar[str | None] = "port"

    port: str = Field(min_length=1)
    baud: int = Field(default=9600, ge=300, le=1_000_000)
    parity: Literal["N", "E", "O"] = "N"
    stop: Literal[1, 2] = 1
    reply_ms: int = Field(default=300, ge=1, le=10_000)
    late_ms: int = Field(default=1500, ge=0, le=10_000)

    def placed(self, endpoint: str) -> Self:
        """Give these settings with a tty path or URL; `host:port` becomes `socket://host:port`."""
        if endpoint.startswith("tcp://"):
            endpoint = "socket://" + endpoint.removeprefix("tcp://")
        elif "://" not in endpoint and not endpoint.startswith("/") and ":" in endpoint:
            endpoint = f"socket://{endpoint}"
        return super().placed(endpoint)

    @property
    def framing(self) -> Framing:
        """The line's framing."""
        return Framing(self.baud, parity=self.parity, stop=self.stop)

    @property
    def bus_address(self) -> int | None:
        """Number of the device on a bus that it may share with others; None: it shares none."""
        return None


class AddressSettings(DeviceSettings):
    """A device at `host:port` on the network."""

    location_field: ClassVar[str | None] = "address"

    address: str = Field(min_length=1)
    reply_ms: int = Field(default=500, ge=1, le=60_000)


@dataclass(slots=True)
class LinkRecord:
    """How a device's link did: exchanges made, reads repeated, failures by word of diagnosis."""

    device: str
    exchanges: int = 0
    repeats: int = 0
    failures: dict[str, int] = field(default_factory=dict)

    def failed(self, error: RigError) -> None:
        """Count one failed exchange."""
        self.failures[error.fault] = self.failures.get(error.fault, 0) + 1

    @contextmanager
    def once(self) -> Iterator[None]:
        """Count one exchange that is never repeated, and its failure."""
        self.exchanges += 1
        try:
            yield
        except RigError as error:
            self.failed(error)
            raise


@dataclass(slots=True)
class Surroundings:
    """What a driver gets to open with: shared serial lines by port, and endpoints by device."""

    endpoints: Mapping[str, str] = field(default_factory=dict)
    control: str | None = None
    open_limit_s: float = 4.0
    _lines: dict[str, SerialLine] = field(default_factory=dict)

    def line(self, port: str, framing: Framing, device: str) -> SerialLine:
        """Give the open line of a port; devices on one bus share it."""
        line = self._lines.get(port)
        if line is None:
            line = SerialLine(port, framing, device)
            line.open()
            self._lines[port] = line
        return line

    def close(self) -> None:
        """Close every line."""
        for line in self._lines.values():
            line.close()
        self._lines.clear()


@runtime_checkable
class Device(Protocol):
    """One open device.

    `link` counts its exchanges. `identify` gives its own identification, where the protocol has
    one. `close` never raises and never waits long.
    """

    settings_type: ClassVar[type[DeviceSettings]]
    provides: ClassVar[frozenset[Capability]]
    name: str
    link: LinkRecord

    def identify(self) -> str | None:
        """Give the device's identification, or None where its protocol has none."""
        ...

    def close(self) -> None:
        """Give the device back."""
        ...


class Driver(Protocol):
    """A driver class, as registered: what its section may say, what it provides, how it opens."""

    settings_type: ClassVar[type[DeviceSettings]]
    provides: ClassVar[frozenset[Capability]]

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Device:
        """Open the device and hear from it once, or raise naming it; nothing stays open then."""
        ...


@runtime_checkable
class Outputs(Protocol):
    """Contacts we drive."""

    name: str

    def switch(self, channel: str, on: bool) -> None:
        """Close or open one contact; sent once."""
        ...

    def pulse(self, channel: str, seconds: float) -> None:
        """Have the device close a contact for this long by itself; sent once. Returns at once."""
        ...

    def states(self) -> Mapping[str, bool]:
        """Read every output back: channel to closed."""
        ...

    def all_open(self) -> None:
        """Open every contact."""
        ...


@runtime_checkable
class Inputs(Protocol):
    """Contacts and lamps we sense as true or false."""

    name: str

    def read(self, channels: Sequence[str]) -> Mapping[str, bool]:
        """Read these channels at one time (one exchange where the protocol can)."""
        ...


@runtime_checkable
class Levels(Protocol):
    """Voltages we measure."""

    name: str

    def measures(self, channel: str) -> bool:
        """Tell whether a channel is measured in volts (a device may have bits too)."""
        ...

    def levels(self, channels: Sequence[str]) -> Mapping[str, float]:
        """Measure these channels in volts."""
        ...


def no_pulse(device: str) -> ConfigurationError:
    """Give the refusal of a device that times no pulses."""
    return ConfigurationError(
        device,
        expected="presses that the host times",
        found="a device-timed pulse",
        remedy="correct the rig file",
    )


def open_closed(outputs: Outputs) -> None:
    """Open every output that reads closed."""
    for channel, closed in outputs.states().items():
        if closed:
            outputs.switch(channel, on=False)


T = TypeVar("T")


def repeat_read(read: Callable[[], T], link: LinkRecord, repeats: int) -> T:
    """Read, and read again after a spoilt reply, at most `repeats` times; every try is counted.

    For reads only: what changes anything on the bench is sent once. Silence and refusals are not
    repeated, but for a device that says it is busy (Modbus asks to put the question again later).
    """
    for left in range(repeats, -1, -1):
        link.exchanges += 1
        try:
            return read()
        except RigError as error:
            link.failed(error)
            busy = isinstance(error, DeviceRefusalError) and error.code == _BUSY
            if not left or not (busy or isinstance(error, SPOILT)):
                raise
            link.repeats += 1
            time.sleep(_BUSY_PAUSE_S if busy else 0)
    raise AssertionError
