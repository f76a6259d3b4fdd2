"""The parsers of the rig as functions of bytes, with sound examples to mutate."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.rig import adapter_lines, mjpeg, visa_link
from harness.rig.drivers import adam_4000, modbus_tcp, numato
from harness.rig.errors import ReplyError
from harness.rig.json_channel import parse_message
from harness.rig.modbus_rtu import parse_reply, read_bits, read_registers, write_coil
from harness.rig.pictures import whole_jpeg
from tests.rig.peers import framed


@dataclass(frozen=True)
class Parser:
    """One parser: how it is called, replies that it takes.

    sealed: gives bytes their right checksum, where one guards the replies; so what lies behind the
    checksum is reached too.
    """

    call: Callable[[bytes], object]
    sound: Sequence[bytes]
    sealed: Callable[[bytes], bytes] | None = None

    def survives(self, data: bytes) -> bool:
        """Call it; tell whether the data was taken. Any error but a documented one passes out."""
        try:
            self.call(data)
        except ReplyError:
            return False
        return True


def _raised(data: bytes) -> None:
    error = modbus_tcp.classify(data, 1, 2, "x")
    assert isinstance(error, ReplyError)


def _adam(data: bytes) -> object:
    text = adam_4000.parse_reply(data[: adam_4000.reply_size(data)] or data, 1, True, "x")
    return adam_4000.parse_channels(text, "4050", "x")


def _plain_adam(data: bytes) -> object:
    text = adam_4000.parse_reply(data[: adam_4000.reply_size(data)] or data, 1, False, "x")
    return adam_4000.parse_channels(text, "4053", "x")


def _adam_order(data: bytes) -> object:
    return adam_4000.parse_reply(data, 1, False, "x", ">")


def _numato(data: bytes) -> object:
    whole = data[: numato.reply_size("gpio readall", data)] or data
    return numato.parse_reply("gpio readall", whole, "x")


def _adapter(body: str) -> bytes:
    return adapter_lines.line(7, body)


def _adapter_line(data: bytes) -> object:
    return adapter_lines.parse_reply(7, data[: adapter_lines.reply_size(7, data)] or data, "x")


def _framed(data: bytes) -> bytes:
    return framed(*data[:-2])


def _summed(data: bytes) -> bytes:
    body = data[:-3]
    return body + b"%02X\r" % (sum(body) & 0xFF)


def _starred(data: bytes) -> bytes:
    text = data.partition(b"*")[0]
    return text + b"*%02X\n" % (sum(text) & 0xFF)


PARSERS = {
    "rtu read of 64 inputs": Parser(
        lambda data: parse_reply(read_bits(1, 2, 0, 64), data, "x"),
        [framed(1, 2, 8, *range(8))],
        _framed,
    ),
    "rtu read of registers": Parser(
        lambda data: parse_reply(read_registers(1, 0x8000, 1), data, "x"),
        [framed(1, 3, 2, 0, 200)],
        _framed,
    ),
    "rtu write": Parser(
        lambda data: parse_reply(write_coil(1, 3, 0xFF00), data, "x"),
        [framed(1, 5, 0, 3, 0xFF, 0)],
        _framed,
    ),
    "modbus/tcp": Parser(_raised, [bytes.fromhex("0001 0000 0004 01 02 01 05")]),
    "adam with checksum": Parser(_adam, [adam_4000.command("!112200", checksum=True)], _summed),
    "adam": Parser(_plain_adam, [b"!BEDE00\r", b"\x00\xff!bede00\r\n"]),
    "adam order": Parser(_adam_order, [b">\r", b"?01\r", b"?\r", b"!\r"]),
    "numato": Parser(
        _numato,
        [b"gpio readall\n\r00ff\n\r>", b"gpio readall\r#intr\r00ff\r>"],
    ),
    "adapter line": Parser(
        _adapter_line,
        [_adapter("OK IDLE 4"), _adapter("OK"), _adapter("OK 3 1 1 5")],
        _starred,
    ),
    "scpi numbers": Parser(
        lambda data: visa_link.parse_numbers(data.decode("latin-1"), None, "x"),
        [b"+4.98E+00,-1.2E-02", b"7", b"4.98 VDC"],
    ),
    "json line": Parser(lambda data: parse_message(data, "x"), [b'{"ok": true, "why": "a"}']),
    "mjpeg stream": Parser(
        lambda data: mjpeg.PartParser(b"cut", "x").feed(data),
        [b"--cut\r\nContent-Length: 3\r\nX-Timestamp: 1.5\r\n\r\nabc\r\n--cut\r\n\r\n"],
    ),
    "http chunks": Parser(
        lambda data: mjpeg.Chunks("x").feed(data), [b"3\r\nabc\r\n1;by=camera\r\nd\r\n0\r\n\r\n"]
    ),
    "jpeg": Parser(whole_jpeg, [b"\xff\xd8\xff\xda\x00\x04ab12\xff\x00\xff\xd0\xff\xd9"]),
}


def strings(parser: Parser, count: int, rng: random.Random) -> Iterator[bytes]:
    """Give sound replies, random bytes, and sound replies with bytes changed, cut, put in.

    Where a checksum guards the replies, half of the changed ones get the right one again.
    """
    sound = parser.sound
    yield from sound
    for n in range(count):
        if n % 2:
            yield rng.randbytes(rng.randrange(80))
            continue
        data = bytearray(rng.choice(sound))
        for _ in range(rng.randrange(1, 5)):
            at = rng.randrange(len(data) + 1)
            act = rng.randrange(4)
            if act == 0 and at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            elif act == 1:
                data[at:at] = rng.randbytes(rng.randrange(1, 4))
            elif act == 2:
                del data[at : at + rng.randrange(1, 4)]
            else:
                del data[at:]
        changed = bytes(data)
        yield parser.sealed(changed) if parser.sealed is not None and n % 4 else changed
