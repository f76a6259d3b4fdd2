"""Modbus/TCP inputs or outputs: Advantech ADAM-6000, Moxa ioLogik E1200 and their like.

Source: MODBUS Messaging on TCP/IP V1.0b (MBAP header); modules' manuals: ADAM-6000 has its inputs
in the coil area (FC01 from 0) and outputs from coil 16, ioLogik E1211 16 outputs as coils from 0,
E1214 inputs as discrete inputs (FC02) from 0. pymodbus carries it, with no retries: its default of
three would press a key twice when one reply is lost. After a time-out the connection is closed, so
that a late reply dies with it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Self, cast

from pydantic import Field

from harness.rig import wire
from harness.rig.device import (
    AddressSettings,
    Capability,
    DeviceSettings,
    LinkRecord,
    Surroundings,
    no_pulse,
    numbered,
    open_closed,
    repeat_read,
)
from harness.rig.drivers.modbus_serial import Area
from harness.rig.errors import (
    CorruptReplyError,
    DeviceRefusalError,
    LinkLostError,
    NoReplyError,
    NotThereError,
    ReplyError,
    RigError,
    ShortReplyError,
    WrongEchoError,
    WrongFunctionError,
    WrongUnitError,
)
from harness.rig.modbus_rtu import EXCEPTIONS
from harness.rig.sockets import host_and_port, hung_up

if TYPE_CHECKING:
    from pymodbus.client import ModbusTcpClient
    from pymodbus.pdu import ModbusPDU

_PORT = 502
_HEADER = 7
logging.getLogger("pymodbus").addHandler(logging.NullHandler())  # its words are in our errors


class ModbusTcpSettings(AddressSettings):
    """Section of a `modbus-tcp`.

    area: where its channels are, discrete inputs (FC02) or coils (FC01, and FC05 for outputs).
    base: address of channel 0. A module with inputs and outputs is two sections, one for each.
    """

    unit: int = Field(default=1, ge=0, le=255)
    area: Area = "discrete"
    base: int = Field(default=0, ge=0, le=0xFFFF)
    channels: int = Field(ge=1, le=2000)
    invert: bool = False
    direction: Literal["in", "out"] = "in"
    read_repeats: int = Field(default=2, ge=0, le=5)

    @property
    def has_checksum(self) -> bool:
        """Modbus/TCP leaves it to what carries it."""
        return False

    def channel_problem(self, channel: str, use: Capability) -> str | None:
        """Channels are numbered from 0; outputs need `direction = "out"` and the coil area."""
        if use == "outputs" and (self.direction != "out" or self.area != "coil"):
            return 'a channel of a device with direction = "out" and area = "coil"'
        if use == "inputs" and self.direction != "in":
            return 'a channel of a device with direction = "in"'
        return numbered(channel, self.channels)


class ModbusTcp:
    """The channels, opened. One read takes every channel at one time, in one exchange."""

    settings_type: ClassVar[type[DeviceSettings]] = ModbusTcpSettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"inputs", "outputs"})

    def __init__(self, name: str, settings: ModbusTcpSettings, open_limit_s: float) -> None:
        from pymodbus.client import ModbusTcpClient

        host, port = host_and_port(settings.address, name, _PORT)
        self.name = name
        self.link = LinkRecord(name)
        self._settings = settings
        self._turn = threading.Lock()
        self._received = b""
        self._client: ModbusTcpClient = ModbusTcpClient(
            host,
            port=port,
            timeout=min(settings.reply_ms / 1000, open_limit_s),
            retries=0,
            trace_packet=self._heard,
        )

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Self:
        """Connect and read the channels once."""
        device = cls(name, cast("ModbusTcpSettings", settings), around.open_limit_s)
        try:
            device._bits()
        except RigError:
            device.close()
            raise
        return device

    def identify(self) -> str | None:
        """Modules of this kind do not say what they are."""
        return None

    def read(self, channels: Sequence[str]) -> Mapping[str, bool]:
        """Read these channels, all in one exchange."""
        bits = self._bits()
        invert = self._settings.invert
        return {channel: bits[int(channel)] != invert for channel in channels}

    def states(self) -> Mapping[str, bool]:
        """Read every output back."""
        return {str(channel): closed for channel, closed in enumerate(self._bits())}

    def switch(self, channel: str, on: bool) -> None:
        """Close or open one output; sent once."""
        address = self._settings.base + int(channel)
        with self.link.once():
            reply = self._exchange(
                lambda: self._client.write_coil(address, on, device_id=self._settings.unit), 5
            )
            if reply.address != address or bool(reply.bits and reply.bits[0]) != on:
                raise WrongEchoError(
                    self.name,
                    expected=f"the echo of coil {address}",
                    found=f"coil {reply.address}",
                    remedy="check the module and what lies between",
                    received=self._received,
                )

    def pulse(self, channel: str, seconds: float) -> None:
        """Refuse: these modules time no pulse that a common request starts."""
        raise no_pulse(self.name)

    def all_open(self) -> None:
        """Open every output that reads closed."""
        open_closed(self)

    def _bits(self) -> tuple[bool, ...]:
        own = self._settings
        client = self._client
        ask = client.read_coils if own.area == "coil" else client.read_discrete_inputs
        function = 1 if own.area == "coil" else 2

        def once() -> tuple[bool, ...]:
            reply = self._exchange(
                lambda: ask(own.base, count=own.channels, device_id=own.unit), function
            )
            # pymodbus pads to whole bytes: fewer bytes than asked for are a short reply
            if len(reply.bits) < own.channels or len(reply.bits) - own.channels >= 8:
                raise ShortReplyError(
                    self.name,
                    expected=f"{own.channels} bits",
                    found=f"{len(reply.bits)}",
                    remedy="correct the number of channels in the rig file",
                    received=self._received,
                )
            return tuple(reply.bits[: own.channels])

        return repeat_read(once, self.link, own.read_repeats)

    def _heard(self, sending: bool, data: bytes) -> bytes:
        self._received = b"" if sending else data
        (wire.sent if sending else wire.received)(self.name, data)
        return data

    def _exchange(self, ask: Callable[[], ModbusPDU], function: int) -> ModbusPDU:
        """Put one question once; whatever pymodbus makes of the answer is told apart here."""
        from pymodbus.exceptions import ConnectionException, ModbusException

        with self._turn:
            self._received = b""
            link = self._client.socket if self._client.connected else None
            if link is not None and hung_up(link):
                self.close()  # modules hang up on a master that rests; pymodbus connects anew
            was_open = self._client.connected
            try:
                reply = ask()
            except ConnectionException as error:
                self.close()
                raise self._no_connection(was_open) from error
            except (ModbusException, OSError, ValueError, IndexError, TypeError) as error:
                self.close()
                raise self._unusable(function) from error
        if reply.isError():
            code = int(getattr(reply, "exception_code", 0))
            raise DeviceRefusalError(
                self.name,
                expected=f"a reply to function {function}",
                found=f"exception {code}, {EXCEPTIONS.get(code, 'not in the specification')}",
                remedy="compare area, base and channels in the rig file with the module's manual",
                received=self._received,
                code=code,
            )
        if reply.function_code != function:
            self.close()
            raise self._unusable(function)
        return reply

    def _no_connection(self, was_open: bool) -> RigError:
        if was_open:
            return LinkLostError(
                self.name,
                expected=f"the connection to {self._settings.address} to stay open",
                found="closed by the module",
                remedy="check the module and the network",
                received=self._received or None,
            )
        return NotThereError(
            self.name,
            expected=f"a module at {self._settings.address}",
            found="no connection",
            remedy="check that the module is on, its address and the network",
        )

    def _unusable(self, function: int) -> ReplyError:
        return classify(self._received, self._settings.unit, function, self.name)

    def close(self) -> None:
        """Hang up."""
        self._client.close()  # type: ignore[no-untyped-call]


def classify(received: bytes, unit: int, function: int, device: str) -> ReplyError:
    """Say what is wrong with a Modbus/TCP reply that was not taken. Any byte string is safe."""
    asked = f"a reply to function {function} of unit {unit}"
    if not received:
        return NoReplyError(
            device,
            expected=asked,
            found="silence",
            remedy="check the unit number and the module",
            received=b"",
        )
    size = int.from_bytes(received[4:6], "big") + 6
    kind: type[ReplyError]
    if len(received) < _HEADER + 1 or len(received) < size:
        kind, found = ShortReplyError, f"{len(received)} bytes"
    elif received[2:4] != b"\x00\x00":
        kind, found = CorruptReplyError, f"protocol {received[2:4].hex()}"
    elif received[6] != unit:
        kind, found = WrongUnitError, f"unit {received[6]}"
    elif received[7] & 0x7F != function:
        kind, found = WrongFunctionError, f"function {received[7]}"
    else:
        kind, found = WrongEchoError, f"transaction {int.from_bytes(received[:2], 'big')}"
    return kind(
        device,
        expected=asked,
        found=found,
        remedy="check the module and what lies between",
        received=received,
    )
