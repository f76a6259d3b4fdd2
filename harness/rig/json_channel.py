"""A TCP connection that carries JSON, a line a message, one answer to each question."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Mapping
from typing import cast

from harness.rig import wire
from harness.rig.errors import CorruptReplyError, LinkLostError, NoReplyError
from harness.rig.sockets import connect

_LIMIT = 1 << 20


def parse_message(line: bytes, device: str) -> dict[str, object]:
    """Take one line apart. Raises CorruptReplyError unless it is one JSON object."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise CorruptReplyError(
            device,
            expected="one JSON object on a line",
            found=repr(line[:80]),
            remedy="check what program listens at this address",
            received=line[:4096],
        )
    return cast("dict[str, object]", message)


class JsonChannel:
    """The connection, opened. After a time-out it is closed, so that no late answer is used."""

    def __init__(self, address: str, device: str, limit_s: float) -> None:
        self.device = device
        self._address = address
        self._turn = threading.Lock()
        self._link: socket.socket | None = connect(address, device, limit_s)
        self._rest = b""

    def ask(self, question: Mapping[str, object], limit_s: float) -> dict[str, object]:
        """Send one question and give its answer."""
        with self._turn:
            if self._link is None:
                self._link, self._rest = connect(self._address, self.device, 2.0), b""
            try:
                self._link.settimeout(limit_s)
                asked = json.dumps(dict(question)).encode() + b"\n"
                self._link.sendall(asked)
                wire.sent(self.device, asked)
                return parse_message(self._line(time.monotonic() + limit_s), self.device)
            except TimeoutError as error:
                received = self._rest
                self._drop()
                raise NoReplyError(
                    self.device,
                    expected=f"an answer within {limit_s:g} s",
                    found="none" if not received else "half a line",
                    remedy="check the program at the other end",
                    received=received,
                ) from error
            except OSError as error:
                self._drop()
                raise LinkLostError(
                    self.device,
                    expected="the connection to stay open",
                    found=(error.strerror or str(error)).lower(),
                    remedy="check the program at the other end",
                ) from error

    def _line(self, deadline: float) -> bytes:
        link = cast("socket.socket", self._link)
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            link.settimeout(left)
            chunk = link.recv(65536)
            if not chunk:
                raise ConnectionError("closed by the other end")
            wire.received(self.device, chunk)
            self._rest += chunk
            if len(self._rest) > _LIMIT:
                raise ConnectionError("a line without end")
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _drop(self) -> None:
        if self._link is not None:
            with contextlib.suppress(OSError):
                self._link.close()
        self._link = None

    def close(self) -> None:
        """Close the connection."""
        self._drop()
