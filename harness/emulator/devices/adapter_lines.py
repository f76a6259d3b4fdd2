"""The lines of our own serial adapters, on the shaker and on the terminal's test port.

No maker publishes a protocol for these parts, so this one is the project's own:

    request   #SS COMMAND[ WORD]...*CC\\n
    reply     #SS OK[ WORD]...*CC\\n   or   #SS ERR CODE[ WORD]...*CC\\n

`SS` is a sequence number and `CC` the sum of all bytes before `*`, modulo 256, both two upper-case
hexadecimal digits. A line with a wrong sum or form is met with silence, an unknown command with
`ERR 1`. A request that repeats the last one's number and text is not carried out again: its reply
is sent again. Codes: 1 unknown command, 2 wrong or missing words, 3 not now, 4 device fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from harness.emulator.bench import Bench
from harness.emulator.shaker import RefusedError

UNKNOWN, WRONG_WORDS, NOT_NOW, DEVICE_FAULT = 1, 2, 3, 4
LONGEST = 120
_LINE = re.compile(rb"#([0-9A-F]{2}) ([\x21-\x7e]+(?: [\x21-\x7e]+)*)\*([0-9A-F]{2})")
Command = Callable[[list[str]], str]


class CommandError(Exception):
    """The adapter refuses a command; `code` goes into its reply."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(f"error {code}")


class Adapter:
    """Answers lines by a table of commands: the words after one to the words after OK."""

    def __init__(self, commands: Mapping[str, Command]) -> None:
        self._commands = commands
        self._last: tuple[bytes, bytes] = (b"", b"")

    def answer(self, line: bytes) -> bytes:
        """Answer one line without its end."""
        match = _LINE.fullmatch(line)
        if match is None or len(line) >= LONGEST or checksum(line[:-3]) != match[3]:
            return b""
        if line == self._last[0]:
            return self._last[1]
        command, *words = match[2].decode("ascii").split(" ")
        try:
            said = self._carry_out(command, words)
        except CommandError as error:
            said = f"ERR {error.code}"
        reply = reply_line(match[1], said)
        self._last = line, reply
        return reply

    def _carry_out(self, command: str, words: list[str]) -> str:
        if command not in self._commands:
            raise CommandError(UNKNOWN)
        said = self._commands[command](words)
        return f"OK {said}" if said else "OK"


def shaker_adapter(bench: Bench) -> Adapter:
    """Give the adapter of a shaker machine: ID?, START, STATE?, STROKES?, COVER?, COVER."""
    shaker = bench.shaker

    def start(words: list[str]) -> str:
        _expect(words, 0)
        if shaker.settings.kind == "manual" or shaker.busy:
            raise CommandError(NOT_NOW)
        shaker.press_start()
        return ""

    def state(words: list[str]) -> str:
        _expect(words, 0)
        if shaker.fault_line:
            return f"FAULT 1 {shaker.completed}"
        return f"{'IDLE' if shaker.done and not shaker.busy else 'RUN'} {shaker.completed}"

    def cover(words: list[str]) -> str:
        _expect(words, 1)
        if words[0] not in ("ON", "OFF"):
            raise CommandError(WRONG_WORDS)
        try:
            shaker.cover(words[0] == "ON")
        except RefusedError:
            raise CommandError(DEVICE_FAULT) from None
        return ""

    return Adapter(
        {
            "ID?": lambda words: "line-shaker 1.0",
            "START": start,
            "STATE?": state,
            "STROKES?": lambda words: str(shaker.strokes),
            "COVER?": lambda words: "ON" if shaker.cover_switch else "OFF",
            "COVER": cover,
        }
    )


def terminal_adapter(bench: Bench) -> Adapter:
    """Give the adapter on the terminal's test port: ID?, KEYS?, LIT?, PRESS."""
    table, timeline = bench.table, bench.timeline

    def keys(words: list[str]) -> str:
        _expect(words, 0)
        return " ".join([str(table.terminal.taken), *table.terminal.entered])

    def press(words: list[str]) -> str:
        _expect(words, 2)
        key, ms = words
        if key not in table.keypad.keys or not ms.isdigit() or not 1 <= int(ms) <= 10_000:
            raise CommandError(WRONG_WORDS)
        table.keypad.drive(key, True)
        timeline.after(int(ms) / 1000, lambda: table.keypad.drive(key, False))
        return ""

    return Adapter(
        {
            "ID?": lambda words: "line-terminal 1.0",
            "KEYS?": keys,
            "LIT?": lambda words: str(len(table.intended)),
            "PRESS": press,
        }
    )


def is_press(line: bytes) -> bool:
    """Tell whether a request presses a key or starts the machine."""
    return b" PRESS " in line or b" START*" in line


def disguised(reply: bytes) -> bytes:
    """Give a reply as to another request."""
    number = int(reply[1:3], 16) ^ 0x55
    return reply_line(b"%02X" % number, reply[4 : reply.rindex(b"*")].decode("ascii"))


def checksum(data: bytes) -> bytes:
    """Give the two digits that follow `*` for the bytes before it."""
    return b"%02X" % (sum(data) & 0xFF)


def reply_line(sequence: bytes, said: str) -> bytes:
    """Give a whole reply."""
    text = b"#%b %b" % (sequence, said.encode("ascii"))
    return text + b"*" + checksum(text) + b"\n"


def _expect(words: list[str], count: int) -> None:
    if len(words) != count:
        raise CommandError(WRONG_WORDS)
