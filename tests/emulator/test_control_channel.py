"""The control channel and the operator's desk, line by line."""

from __future__ import annotations

import json
import socket
import time

import pytest

from .conftest import LAMPS


def test_present_lays_the_dice(bench):
    assert bench.ask({"do": "present", "dice": [6, 1, 2]}) == {"ok": True}
    assert bench.do("state")["dice"] == [6, 1, 2]
    bench.do("present", dice=[1, 1, 2], pose="leaning")
    assert bench.do("state")["pose"] == "leaning"
    bench.do("present", dice=[1, 1, 2], pose="flat")


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ("not json", "JSON"),
        ([1], "object"),
        ({"do": "dance"}, "dance"),
        ({"do": ["present"]}, "present"),
        ({"do": "present"}, "dice"),
        ({"do": "present", "dice": [1, 2]}, "dice"),
        ({"do": "present", "dice": [1, 2, 7]}, "dice"),
        ({"do": "present", "dice": [1, 2, True]}, "dice"),
        ({"do": "present", "dice": "1,2,3"}, "dice"),
        ({"do": "present", "dice": [1, 2, 3], "pose": "flying"}, "pose"),
        ({"do": "cover"}, "on"),
        ({"do": "cover", "on": 1}, "on"),
        ({"do": "shake", "strokes": 0}, "strokes"),
        ({"do": "activate"}, "manual"),
        ({"do": "press", "key": "9"}, "key"),
        ({"do": "press", "key": "1", "ms": "long"}, "ms"),
        ({"do": "arm"}, "fault"),
        ({"do": "arm", "fault": "F10", "with": [1]}, "with"),
        ({"do": "arm", "fault": "F99"}, "F99"),
        ({"do": "arm", "fault": "F10", "with": {"lamp": "total-3"}}, "total-3"),
        ({"do": "arm", "fault": "F10", "with": {"lump": "total-9"}}, "lamp=total-9"),
        ({"do": "disarm", "fault": "F10"}, "F10"),
        ({"do": "unplug", "device": "kettle"}, "kettle"),
        ({"do": "plug", "device": ["lamps"]}, "lamps"),
        ("[" * 8000, "JSON"),
    ],
)
def test_bad_requests_are_refused_with_why(bench, request_, why):
    before = bench.do("state")
    answer = bench.ask(request_)
    assert answer["ok"] is False
    assert why in answer["why"]
    after = bench.do("state")
    assert {k: v for k, v in after.items() if k != "time"} == {
        k: v for k, v in before.items() if k != "time"
    }


def test_two_clients_at_once(bench):
    host, port = bench.control.split(":")
    with (
        socket.create_connection((host, int(port)), timeout=5) as other,
        other.makefile("rwb") as f,
    ):
        f.write(b'{"do": "present", "dice": [5, 5, 5]}\n')
        f.flush()
        assert json.loads(f.readline())["ok"]
    assert bench.do("state")["dice"] == [5, 5, 5]


def test_half_a_line_is_not_taken_for_one(bench):
    host, port = bench.control.split(":")
    with socket.create_connection((host, int(port)), timeout=0.3) as other:
        other.sendall(b'{"do": "present", "dice": [4, 4, 4]}')
        with pytest.raises(TimeoutError):
            other.recv(100)
        other.sendall(b"\n")
        other.settimeout(5)
        assert b"true" in other.recv(100)


def test_finger_on_a_key(bench):
    for key in "112":
        bench.do("press", key=key, ms=20)
        time.sleep(0.02)
    assert bench.do("state")["display"] == "112"
    assert set(bench.do("state")["lit"]) <= set(LAMPS)


class Desk:
    def __init__(self, bench):
        host, port = bench.endpoints["desk"].split(":")
        self.link = socket.create_connection((host, int(port)), timeout=5)
        self.file = self.link.makefile("rwb")

    def ask(self, **prompt):
        self.file.write(json.dumps(prompt).encode() + b"\n")
        self.file.flush()
        return json.loads(self.file.readline())

    def close(self):
        self.file.close()
        self.link.close()


@pytest.fixture
def desk(bench):
    desk = Desk(bench)
    yield desk
    desk.close()


def test_desk_says_yes_unless_told_otherwise_for_a_clause(bench, desk):
    bench.arm("answer", clause="ny.a.1.i", answer="no")
    bench.arm("answer", clause="ny.a.2", answer="cannot tell")
    assert desk.ask(ask="Is it so?", clause="ny.a.1.i") == {"answer": "no"}
    assert desk.ask(ask="Is it so?", clause="ny.a.2") == {"answer": "cannot tell"}
    assert desk.ask(ask="Is it so?", clause="ny.a.1.ii") == {"answer": "yes"}
    bench.do("disarm")
    assert desk.ask(ask="Is it so?", clause="ny.a.1.i") == {"answer": "yes"}


def test_desk_refuses_what_is_no_prompt(desk):
    assert "error" in desk.ask(clause="ny.a.1.i")
    assert "error" in desk.ask(ask=5)


def test_absent_operator(bench, desk):
    bench.arm("F65")
    desk.link.settimeout(0.3)
    with pytest.raises(TimeoutError):
        desk.ask(ask="Anybody there?", clause="ny.c.1")
