"""The control channel: whoever runs the bench sets dice, moves the cover and arms faults here.

Wire: TCP on loopback, JSON lines, one reply each: `{"ok": true, ...}` or `{"ok": false, "why":
TEXT}`.

| request | what it does |
|---|---|
| `{"do": "present", "dice": [1,1,2], "pose": "flat"}` | lays the dice, also leaning, stacked |
| `{"do": "shake"}`, with `"strokes": 3` | strokes by hand, or one run of a machine |
| `{"do": "activate", "by": "dealer"}` | presses a machine's start button, waits until it is done |
| `{"do": "cover", "on": true}` | moves the cover |
| `{"do": "call"}`, with `"made": false` | makes the call, for tables that lock on it |
| `{"do": "countdown"}` | starts the betting timer |
| `{"do": "press", "key": "1", "ms": 100}` | a finger presses a key of the terminal |
| `{"do": "lamp-test", "on": true}` | lights every lamp, or none, as a maker's lamp test does |
| `{"do": "room", "light": 1.5}` | changes the room's light over the layout, 1 as it was |
| `{"do": "arm", "fault": "F10", "with": {...}}` | arms a fault |
| `{"do": "disarm"}`, with `"fault": "F10"` | takes every fault back, or one |
| `{"do": "unplug", "device": NAME}`, `{"do": "plug", ...}` | takes a device's port away and back |
| `{"do": "state"}` | tells all there is to see |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from harness.emulator.bench import Bench
from harness.emulator.dice_box import Pose
from harness.emulator.faults.catalogue import Armoury, UnknownFaultError
from harness.emulator.shaker import RefusedError

Request = Mapping[str, object]
_POSES: tuple[Pose, ...] = ("flat", "leaning", "stacked")
Shown = Callable[[], None]


class Control:
    """Answers requests, a line each. `shown` returns once the camera's frames show the dice."""

    def __init__(self, bench: Bench, armoury: Armoury, shown: Shown) -> None:
        self._bench = bench
        self._armoury = armoury
        self._shown = shown
        self._acts: dict[str, Callable[[Request], dict[str, object]]] = {
            "present": self._present,
            "shake": self._shake,
            "activate": self._activate,
            "cover": self._cover,
            "call": self._call,
            "countdown": self._countdown,
            "press": self._press,
            "lamp-test": self._lamp_test,
            "room": self._room,
            "arm": self._arm,
            "disarm": self._disarm,
            "unplug": self._unplug,
            "plug": self._plug,
            "state": self._state,
        }

    def reply(self, line: bytes) -> bytes:
        """Give the reply to one line."""
        try:
            answer: dict[str, object] = {"ok": True, **self._do(line)}
        except (RefusedError, UnknownFaultError) as refusal:
            answer = {"ok": False, "why": str(refusal)}
        return json.dumps(answer).encode() + b"\n"

    def _do(self, line: bytes) -> dict[str, object]:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            raise RefusedError("not a JSON line") from None
        if not isinstance(request, dict):
            raise RefusedError("expected a JSON object")
        name = request.get("do")
        act = self._acts.get(name) if isinstance(name, str) else None
        if act is None:
            raise RefusedError(f"do: expected one of {', '.join(self._acts)}, found {name!r}")
        return act(request)

    def _present(self, request: Request) -> dict[str, object]:
        dice, pose = request.get("dice"), request.get("pose", "flat")
        if (
            not isinstance(dice, list)
            or len(dice) != 3
            or not all(type(value) is int and 1 <= value <= 6 for value in dice)
        ):
            raise RefusedError(f"dice: expected three whole numbers from 1 to 6, found {dice!r}")
        if pose not in _POSES:
            raise RefusedError(f"pose: expected {', '.join(_POSES)}, found {pose!r}")
        with self._bench.timeline.lock:
            self._bench.timeline.catch_up()
            if self._bench.shaker.busy:
                raise RefusedError("the shaker is running")
            self._bench.dice.lay(dice, pose)
        self._shown()
        return {}

    def _shake(self, request: Request) -> dict[str, object]:
        strokes = request.get("strokes", 1)
        if type(strokes) is not int or not 1 <= strokes <= 1000:
            raise RefusedError(f"strokes: expected a whole number from 1, found {strokes!r}")
        manual = self._bench.shaker.settings.kind == "manual"
        for _ in range(strokes):
            with self._bench.timeline.lock:
                self._bench.timeline.catch_up()
                shaker = self._bench.shaker
                seconds = shaker.stroke() if manual else shaker.activate()
            self._bench.timeline.sleep(seconds)
        return {"strokes": self._bench.shaker.strokes}

    def _activate(self, request: Request) -> dict[str, object]:
        with self._bench.timeline.lock:
            self._bench.timeline.catch_up()
            seconds = self._bench.shaker.activate()
        self._bench.timeline.sleep(seconds)
        return {"done": self._bench.shaker.done}

    def _cover(self, request: Request) -> dict[str, object]:
        on = _flag(request, "on")
        with self._bench.timeline.lock:
            self._bench.timeline.catch_up()
            self._bench.shaker.cover(on)
        self._shown()
        return {}

    def _call(self, request: Request) -> dict[str, object]:
        self._bench.call(made=_flag(request, "made", default=True))
        return {}

    def _countdown(self, request: Request) -> dict[str, object]:
        with self._bench.timeline.lock:
            self._bench.timeline.catch_up()
            self._bench.countdown.start()
        return {"seconds": self._bench.countdown.seconds}

    def _press(self, request: Request) -> dict[str, object]:
        key, ms = str(request.get("key")), request.get("ms", 100)
        keypad = self._bench.table.keypad
        if key not in keypad.keys:
            raise RefusedError(f"key: expected one of {', '.join(keypad.keys)}, found {key!r}")
        if isinstance(ms, bool) or not isinstance(ms, int | float) or not 0 < ms <= 60_000:
            raise RefusedError(f"ms: expected a number above 0, found {ms!r}")
        timeline = self._bench.timeline
        with timeline.lock:
            timeline.catch_up()
            keypad.drive(key, True)
            timeline.after(ms / 1000, lambda: keypad.drive(key, False))
        timeline.sleep(ms / 1000)
        return {}

    def _lamp_test(self, request: Request) -> dict[str, object]:
        on = _flag(request, "on")
        with self._bench.timeline.lock:
            self._bench.timeline.catch_up()
            self._bench.table.test_lamps(on)
        return {}

    def _room(self, request: Request) -> dict[str, object]:
        light = request.get("light")
        if isinstance(light, bool) or not isinstance(light, int | float) or not 0 <= light <= 10:
            raise RefusedError(f"light: expected a number from 0 to 10, found {light!r}")
        for layout in self._bench.layouts:
            layout.light_room(light * layout.config.ambient)
        return {}

    def _arm(self, request: Request) -> dict[str, object]:
        fault, given = request.get("fault"), request.get("with", {})
        if not isinstance(fault, str) or not isinstance(given, dict):
            raise RefusedError("arm: expected a fault and, in with, its parameters")
        self._armoury.arm(fault, {str(name): value for name, value in given.items()})
        self._shown()
        return {}

    def _disarm(self, request: Request) -> dict[str, object]:
        fault = request.get("fault")
        if fault is not None and not isinstance(fault, str):
            raise RefusedError(f"fault: expected a fault's number, found {fault!r}")
        self._armoury.disarm(fault)
        self._shown()
        return {}

    def _unplug(self, request: Request) -> dict[str, object]:
        self._port(request, self._bench.unplug)()
        return {}

    def _plug(self, request: Request) -> dict[str, object]:
        self._port(request, self._bench.plug)()
        return {}

    def _port(
        self, request: Request, ports: Mapping[str, Callable[[], None]]
    ) -> Callable[[], None]:
        device = request.get("device")
        if not isinstance(device, str) or device not in ports:
            raise RefusedError(f"device: expected one of {', '.join(ports)}, found {device!r}")
        return ports[device]

    def _state(self, request: Request) -> dict[str, object]:
        return {**self._bench.state(), "armed": self._armoury.armed()}


def _flag(request: Request, name: str, default: bool | None = None) -> bool:
    value = request.get(name, default)
    if not isinstance(value, bool):
        raise RefusedError(f"{name}: expected true or false, found {value!r}")
    return value
