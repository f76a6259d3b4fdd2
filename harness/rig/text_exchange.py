"""Questions and answers in text on a serial line: one device, each answer up to an end mark.

A question is sent once. An answer may come slowly, byte by byte: it has broken off once the line
was silent for as long as a first byte may take. After a time-out a late answer is waited for and
thrown away; where none came, a harmless question is put before the next one, and all that comes up
to its answer is thrown away. So no answer is taken for the next question's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from harness.rig.errors import LateReplyError, NoReplyError
from harness.rig.serial_line import SerialLine

_CHARS_ON_THE_WAY = 64
"""Characters of an answer that a converter may hold back before it hands on the first."""
_MOST_SILENCES = 10
"""An answer that trickles in may take this many times as long as its first byte."""

T = TypeVar("T")


class TextExchange:
    """One device's side of a line.

    end: the mark that answers end with. longest: bytes of the longest answer. probe: a question
    that changes nothing and is always answered; None where answers name their question, so that a
    late one shows by itself.
    """

    def __init__(
        self,
        line: SerialLine,
        device: str,
        *,
        end: bytes,
        longest: int,
        probe: bytes | None,
        reply_s: float,
        late_s: float,
    ) -> None:
        self.line = line
        self.device = device
        self._end = end
        self._longest = longest
        self._probe = probe
        self._reply_s = reply_s
        self._late_s = late_s
        self._doubtful = False

    def ask(
        self,
        request: bytes,
        size: Callable[[bytes], int],
        parse: Callable[[bytes], T],
        *,
        changes: bool,
    ) -> T:
        """Put one question, once, and parse its answer.

        size: gives the length of the whole answer at the start of what came, 0 while it is not
        whole. parse: raises NoReplyError for b"". changes: the request changes something on the
        bench; where the port vanished, only a question that changes nothing opens it anew.
        """
        line = self.line
        with line.turn:
            line.subject = self.device
            if not changes:
                line.come_back()
            if self._doubtful:
                self._resynchronise(parse)
            line.discard()
            line.write(request)
            answer = self._answer(len(request), size)
            try:
                return parse(answer)
            except NoReplyError as silence:
                raise self._after(silence) from None

    def _answer(self, sent: int, size: Callable[[bytes], int]) -> bytes:
        line = self.line
        sent_at = time.monotonic() + (sent + _CHARS_ON_THE_WAY) * line.framing.char_s
        deadline = sent_at + self._reply_s
        last = sent_at + _MOST_SILENCES * self._reply_s
        data = b""
        while len(data) < self._longest:
            chunk = line.read_some(self._longest - len(data), min(deadline, last))
            if not chunk:
                return data
            data += chunk
            whole = size(data)
            if whole:
                return data[:whole]
            deadline = time.monotonic() + self._reply_s
        return data

    def _after(self, silence: NoReplyError) -> NoReplyError | LateReplyError:
        """Wait for a late answer and throw it away."""
        self._doubtful = self._probe is not None
        until = time.monotonic() + self._late_s
        late = self.line.read_line(self._end, until, self._longest)
        if not late:
            return silence
        self._doubtful = False
        return LateReplyError(
            self.device,
            expected=f"a reply within {self._reply_s * 1000:.0f} ms",
            found="one after that, thrown away",
            remedy="raise reply_ms in the rig file if the device is meant to be this slow",
            received=late,
        )

    def _resynchronise(self, parse: Callable[[bytes], T]) -> None:
        line = self.line
        assert self._probe is not None
        line.discard()
        line.write(self._probe)
        if not line.read_line(self._end, time.monotonic() + self._reply_s + 0.1, self._longest):
            parse(b"")  # still silent: says so
        while line.read_line(self._end, time.monotonic() + self._reply_s, self._longest):
            pass
        self._doubtful = False
