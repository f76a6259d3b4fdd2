"""SCPI over PyVISA, with what was measured to go wrong made right.

Sockets get TCP_NODELAY (else a write followed by a query waits 40 ms for Nagle). A peer that hung
up is told from one that is silent. `clear()` is never used: on a closed socket it loops for ever.
After a time-out the session is opened anew, and on a serial port what still comes is read away up
to the instrument's own identification, so that no answer is taken for the next question's.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

from pydantic import Field

from harness.rig import wire
from harness.rig.device import DeviceSettings, LinkRecord
from harness.rig.errors import (
    CorruptReplyError,
    DeviceRefusalError,
    LinkLostError,
    NoReplyError,
    NotThereError,
    RigError,
)
from harness.rig.sockets import hung_up

if TYPE_CHECKING:
    from pyvisa.resources import MessageBasedResource

SCPI_PORT: Final = 5025
_LONGEST_DRAIN: Final = 1 << 16
_IDLE: Final = b"\x00\xff"
"""What a serial line may show before an answer, as after the instrument was switched on."""
OVERLOAD: Final = 9.9e37
_NUMBER = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[Ee][+-]?\d{1,3})?)(?: ?(?:VDC|V|ADC|A|W))?")
"""A number as SCPI writes it; instruments set to show units put them behind it."""


class VisaSettings(DeviceSettings):
    """An instrument: a VISA resource name, `host:port` or a tty path.

    baud, stop, xonxoff, dsrdtr: for instruments on a serial port.
    """

    location_field: ClassVar[str | None] = "resource"

    resource: str = Field(min_length=1)
    reply_ms: int = Field(default=1000, ge=1, le=60_000)
    late_ms: int = Field(default=1500, ge=0, le=10_000)
    baud: int = Field(default=9600, ge=300, le=1_000_000)
    stop: Literal[1, 2] = 1
    xonxoff: bool = False
    dsrdtr: bool = False
    read_repeats: int = Field(default=2, ge=0, le=5)

    @property
    def has_checksum(self) -> bool:
        """SCPI has none."""
        return False

    def placed(self, endpoint: str) -> Self:
        """Give these settings with a resource name for the endpoint."""
        return super().placed(resource_name(endpoint))


def resource_name(place: str) -> str:
    """Give the VISA resource name of `host:port`, `tcp://host:port`, a tty path, or of itself."""
    rest = place.removeprefix("tcp://").removeprefix("socket://")
    if "::" in place:
        return place
    if place.startswith("/"):
        return f"ASRL{place}::INSTR"
    host, colon, port = rest.rpartition(":")
    if colon and port.isdigit():
        return f"TCPIP::{host}::{port}::SOCKET"
    return f"TCPIP::{rest}::{SCPI_PORT}::SOCKET"


def parse_numbers(text: str, count: int | None, device: str) -> list[float]:
    """Take numbers, separated by commas, out of a reply. Any text is safe to pass.

    Raises CorruptReplyError if one is no SCPI number (NR1 to NR3) or there are not `count`,
    DeviceRefusalError where one says overload (9.9E37).
    """
    matches = [_NUMBER.fullmatch(word.strip()) for word in text.split(",")]
    words = [match[1] for match in matches if match is not None]
    if len(words) < len(matches) or count not in (None, len(words)):
        wanted = "numbers" if count is None else f"{count} number(s)"
        raise CorruptReplyError(
            device,
            expected=wanted,
            found=repr(text[:80]),
            remedy="check the instrument's model and its channels in the rig file",
            received=text.encode("ascii", "replace"),
        )
    numbers = [float(word) for word in words]
    if any(abs(number) >= OVERLOAD for number in numbers):
        raise DeviceRefusalError(
            device,
            expected="values within the instrument's range",
            found="overload",
            remedy="check the wiring of the channel; its voltage is out of range",
            received=text.encode("ascii", "replace"),
        )
    return numbers


class VisaLink:
    """One instrument's session."""

    def __init__(self, device: str, settings: VisaSettings, open_s: float) -> None:
        """Open the session and hear the instrument's identification.

        Raises NotThereError or what the first query raises; nothing stays open then.
        """
        self.device = device
        self.link = LinkRecord(device)
        self._settings = settings
        self._name = resource_name(settings.resource)
        self._turn = threading.RLock()
        self._resource: MessageBasedResource | None = None
        self._identity: str | None = None
        self._doubtful = False
        with self._turn:
            self._open(open_s)
            try:
                self._identity = self.query("*IDN?")
            except RigError:
                self.close()
                raise

    @property
    def identity(self) -> str:
        """The instrument's answer to `*IDN?` when it was opened."""
        return self._identity or ""

    # -- exchanges

    def query(self, command: str, works_s: float = 0.0) -> str:
        """Ask once and give the answer without its line end.

        works_s: how long the instrument works before it begins to answer (a scan of many channels).
        """
        with self._turn:
            self._ready()
            self._send(command)
            return self._receive(command, works_s)

    def write(self, command: str) -> None:
        """Send a command that has no answer, once."""
        with self._turn:
            self._ready()
            with self.link.once():
                self._send(command)

    def _send(self, command: str) -> None:
        resource = self._held()
        try:
            resource.write(command)
        except _failures() as error:
            raise self._lost(str(error)) from error
        wire.sent(self.device, f"{command}\n".encode())

    def _receive(self, command: str, works_s: float = 0.0) -> str:
        resource = self._held()
        limit_ms = self._settings.reply_ms + round(works_s * 1000)
        try:
            resource.timeout = limit_ms
            raw = resource.read_raw()
        except _failures() as error:
            if self._hung_up():
                raise self._lost("closed by the instrument") from error
            self._doubtful = True
            raise NoReplyError(
                self.device,
                expected=f"an answer to {command} within {limit_ms} ms",
                found="silence",
                remedy="check the instrument, and that its dialect in the rig file is right",
                received=b"",
            ) from error
        wire.received(self.device, raw)
        if not raw.endswith(b"\n"):
            self._doubtful = True
            raise CorruptReplyError(
                self.device,
                expected="an answer to its line end",
                found=repr(raw[-40:]),
                remedy="check the link to the instrument",
                received=raw,
            )
        try:
            return raw.lstrip(_IDLE).decode("ascii").strip("\r\n")
        except UnicodeDecodeError:
            raise CorruptReplyError(
                self.device,
                expected="an answer in ASCII",
                found=repr(raw[:40]),
                remedy="check baud rate and parity",
                received=raw,
            ) from None

    # -- the session

    def _open(self, open_s: float) -> None:
        import pyvisa

        manager = pyvisa.ResourceManager("@py")
        resource: Any = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                resource = manager.open_resource(
                    self._name, open_timeout=max(1, int(open_s * 1000))
                )
            resource.timeout = self._settings.reply_ms
            resource.write_termination = "\n"
            resource.read_termination = "\n"
            if self._name.startswith("ASRL"):
                self._frame(resource)
                resource.write("SYST:REM")  # over RS-232, orders are refused in local mode
            self._resource = resource
            link = self._interface()
            if isinstance(link, socket.socket):
                link.getpeername()  # pyvisa-py takes a refused connection for an open one
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except Exception as error:
            # pyvisa-py raises a bare Exception where it cannot connect
            self._resource = None
            if resource is not None:
                with contextlib.suppress(*_failures()):
                    resource.close()
            raise NotThereError(
                self.device,
                expected=f"an instrument at {self._name}",
                found=_first_line(error),
                remedy="check that it is on, its address and the network",
            ) from error

    def _frame(self, resource: Any) -> None:
        from pyvisa.constants import ControlFlow, StopBits

        own = self._settings
        resource.baud_rate = own.baud
        resource.stop_bits = StopBits.two if own.stop == 2 else StopBits.one
        flow = ControlFlow.none
        if own.xonxoff:
            flow = ControlFlow.xon_xoff
        elif own.dsrdtr:
            flow = ControlFlow.dtr_dsr
        if flow != ControlFlow.none:
            resource.flow_control = flow

    def _interface(self) -> Any:
        """Give what pyvisa-py holds: a socket, or a pyserial port."""
        resource = self._held()
        sessions: Any = getattr(resource.visalib, "sessions", {})
        return getattr(sessions.get(resource.session), "interface", None)

    def _held(self) -> MessageBasedResource:
        if self._resource is None:
            raise LinkLostError(
                self.device,
                expected=f"the session with {self._name} open",
                found="it is closed",
                remedy="open the rig again",
            )
        return self._resource

    def _ready(self) -> None:
        """Before a question: nobody hung up, and no answer to an earlier one lies waiting."""
        if self._resource is None and self._identity is not None:
            self._open(2.0)
        elif self._doubtful:
            self._resynchronise()
        elif self._hung_up():
            raise self._lost("closed by the instrument")
        self._drain()

    def _resynchronise(self) -> None:
        """After a time-out: a new session; on a serial port, read up to the identification."""
        if isinstance(self._interface(), socket.socket):
            self.close()
            self._open(2.0)
            self._doubtful = False
            return
        late = time.monotonic() + self._settings.late_ms / 1000
        while time.monotonic() < late and not self._drain():
            time.sleep(0.02)
        self._drain()
        self._send("*IDN?")
        for _ in range(16):
            try:
                answer = self._receive("*IDN?")
            except CorruptReplyError:
                continue
            if answer == self._identity:
                self._doubtful = False
                return
        raise CorruptReplyError(
            self.device,
            expected=f"the identification {self._identity!r}",
            found="other answers, again and again",
            remedy="check for a second program on the port",
        )

    def _drain(self) -> bytes:
        """Take away what lies in the input; never blocks."""
        link = self._interface()
        stale = b""
        try:
            if isinstance(link, socket.socket):
                session: Any = self._held().visalib.sessions[self._held().session]  # type: ignore[attr-defined]
                stale = bytes(session._pending_buffer)
                session._pending_buffer.clear()
                with contextlib.suppress(BlockingIOError):
                    while chunk := link.recv(4096, socket.MSG_DONTWAIT):
                        stale += chunk
                        if len(stale) > _LONGEST_DRAIN:
                            break
            elif link is not None:
                while (waiting := link.in_waiting) and len(stale) < _LONGEST_DRAIN:
                    stale += link.read(waiting)
        except _failures() as error:
            raise self._lost(str(error)) from error
        wire.received(self.device, stale)
        return stale

    def _hung_up(self) -> bool:
        """Tell whether the peer of a socket closed it. Reads nothing away."""
        if self._resource is None:
            return True
        link = self._interface()
        if not isinstance(link, socket.socket):
            try:
                return link is not None and link.in_waiting < 0
            except _failures():
                return True
        return hung_up(link)

    def _lost(self, why: str) -> LinkLostError:
        self.close()
        return LinkLostError(
            self.device,
            expected=f"the session with {self._name} to stay open",
            found=why.splitlines()[0] if why else "closed",
            remedy="check the instrument's power and its link",
        )

    def close(self) -> None:
        """Close the session; never raises."""
        resource, self._resource = self._resource, None
        if resource is not None:
            with contextlib.suppress(*_failures()):
                resource.close()


def _failures() -> tuple[type[Exception], ...]:
    """Give all that pyvisa-py lets through from the libraries below it."""
    import termios

    import pyvisa
    import serial

    return (pyvisa.Error, OSError, serial.SerialException, termios.error, ValueError, TypeError)


def _first_line(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (text.splitlines() or [type(error).__name__])[0].lower()
