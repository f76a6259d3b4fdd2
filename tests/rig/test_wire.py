"""The tap on the wires: what passes is told byte for byte, in order, and only while listened to."""

from __future__ import annotations

import os
import pty
import socket
import threading
import time
import tty

import pytest

from harness.rig import wire
from harness.rig.json_channel import JsonChannel
from harness.rig.serial_line import Framing, SerialLine


@pytest.fixture
def line():
    """A serial line and the file descriptor of what lies at its other end."""
    far, near = pty.openpty()
    tty.setraw(near)
    opened = SerialLine(os.ttyname(near), Framing(115200), "relay")
    opened.open()
    yield opened, far
    opened.close()
    os.close(near)
    os.close(far)


def test_a_serial_line_tells_what_it_sends_receives_and_throws_away(line):
    """Fails if a byte goes by unseen, whichever way it is read."""
    opened, far = line
    passed = []
    with wire.tapped(passed.append):
        opened.write(b"\x01\x05")
        assert os.read(far, 16) == b"\x01\x05"
        for answer, read in (
            (b"ab", lambda: opened.read_some(16, time.monotonic() + 2)),
            (b"cd", lambda: opened.read_exactly(2, time.monotonic() + 2)),
            (b"e\n", lambda: opened.read_line(b"\n", time.monotonic() + 2)),
        ):
            os.write(far, answer)
            assert read() == answer
        os.write(far, b"stale")
        thrown, until = b"", time.monotonic() + 2
        while len(thrown) < 5 and time.monotonic() < until:
            thrown += opened.discard()
    os.write(far, b"after")
    opened.write(b"\x02")
    assert {one.device for one in passed} == {"relay"}
    assert b"".join(one.data for one in passed if one.sent) == b"\x01\x05"
    assert b"".join(one.data for one in passed if not one.sent) == b"abcde\nstale"
    assert [one.at for one in passed] == sorted(one.at for one in passed)


def test_a_json_channel_tells_question_and_answer():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            link, _ = server.accept()
            with link:
                link.recv(1000)
                link.sendall(b'{"ok": true}\n')

        peer = threading.Thread(target=answer)
        peer.start()
        channel = JsonChannel(f"127.0.0.1:{server.getsockname()[1]}", "hand", 2.0)
        passed = []
        with wire.tapped(passed.append):
            channel.ask({"do": "state"}, 2.0)
        channel.close()
        peer.join()
    told = [(one.device, one.sent, one.data) for one in passed]
    assert told == [("hand", True, b'{"do": "state"}\n'), ("hand", False, b'{"ok": true}\n')]
