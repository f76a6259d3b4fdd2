"""The operator's answer is recorded, never assumed; a console and a desk on the network."""

from __future__ import annotations

import os
import pty
import sys
import time

import pytest

from harness.rig.device import Surroundings
from harness.rig.drivers.operator_desk import OperatorDesk, OperatorSettings
from harness.rig.errors import CorruptReplyError, LinkLostError, NoAnswerError, NotThereError
from tests.rig.peers import TcpPeer, lines_of


def desk(peer: TcpPeer, answer_s: float = 0.3) -> OperatorDesk:
    own = OperatorSettings(driver="operator", address=peer.address, answer_s=answer_s)
    return OperatorDesk.open("desk", own, Surroundings())


def test_no_answer_is_no_answer() -> None:
    """F65: nothing is assumed, and a late answer is not taken for the next question's."""
    asked = []

    def late(link) -> None:
        for line in lines_of(link):
            asked.append(line)
            if len(asked) == 1:
                time.sleep(0.6)
                link.sendall(b'{"answer": "yes"}\n')
            else:
                link.sendall(b'{"answer": "no"}\n')

    with TcpPeer(late) as peer:
        operator = desk(peer)
        with pytest.raises(NoAnswerError, match="All lit") as caught:
            operator.confirm("All lit?", "ny.e.4")
        assert caught.value.to_json()["fault"] == "no-answer"
        time.sleep(0.5)
        assert operator.confirm("And now?", "ny.e.4") == "no"
        operator.close()


@pytest.mark.parametrize(
    "reply", [b"yes\n", b'{"answer": "perhaps"}\n', b'{"answer": 1}\n', b"[]\n"]
)
def test_what_is_no_answer_is_refused(reply) -> None:
    def serve(link) -> None:
        for _ in lines_of(link):
            link.sendall(reply)

    with TcpPeer(serve) as peer:
        operator = desk(peer)
        with pytest.raises(CorruptReplyError):
            operator.confirm("All lit?", "ny.e.4")
        operator.close()


def test_a_desk_that_hangs_up() -> None:
    with TcpPeer(lambda link: link.recv(10)) as peer:
        operator = desk(peer)
        with pytest.raises(LinkLostError):
            operator.confirm("All lit?", "ny.e.4")
        operator.close()
    with pytest.raises(NotThereError):
        desk(peer)


CONSOLE = """
from harness.rig.device import Surroundings
from harness.rig.drivers.operator_desk import OperatorDesk, OperatorSettings
own = OperatorSettings(driver="operator", answer_s=20)
operator = OperatorDesk.open("desk", own, Surroundings())
print(operator.confirm("All lit?", "ny.e.4"), flush=True)
operator.present((1, 2, 3))
print("done", flush=True)
"""


def test_a_console() -> None:
    """The question and its clause are shown on the terminal, and the answer is read from it."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", CONSOLE])
    seen = b""

    def until(text: bytes) -> None:
        nonlocal seen
        deadline = time.monotonic() + 20
        while text not in seen and time.monotonic() < deadline:
            seen += os.read(terminal, 1024)
        assert text in seen

    until(b"All lit? [ny.e.4]")
    os.write(terminal, b"cannot tell\n")
    until(b"1, 2, 3 up")
    os.write(terminal, b"y\n")
    until(b"done")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(terminal)
