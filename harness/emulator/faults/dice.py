"""Faults of the dice and of the pictures of them."""

from __future__ import annotations

from collections.abc import Callable

from harness.emulator.bench import Bench
from harness.emulator.dice_box import DiceBox, Pose
from harness.emulator.faults.parameters import Parameters, Undo, UnknownFaultError
from harness.emulator.scene import CameraFault, Scene


def leaning(bench: Bench, _given: Parameters) -> Undo:
    """Let a die lean wherever the dice are laid or fall."""
    return _pose(bench, "leaning")


def stacked(bench: Bench, _given: Parameters) -> Undo:
    """Let a die lie on another wherever the dice are laid or fall."""
    return _pose(bench, "stacked")


def count(bench: Bench, given: Parameters) -> Undo:
    """Let dice be missing, or one too many."""
    dice = given.whole("dice", 0, 4)
    if dice == 3:
        raise given.wrong("dice", "another number than 3")

    def put(box: DiceBox) -> None:
        box.count = dice

    def right(box: DiceBox) -> None:
        box.count = 3

    return _changed(bench, put, right)


def restless(bench: Bench, _given: Parameters) -> Undo:
    """Let the dice never come to rest."""

    def stir(box: DiceBox) -> None:
        box.restless = True

    def calm(box: DiceBox) -> None:
        box.restless = False

    return _changed(bench, stir, calm)


def wrong_die(bench: Bench, given: Parameters) -> Undo:
    """Exchange a die for one with a face twice."""
    number = given.whole("die", 1, 3)
    scenes = _scenes(bench)
    sound = [scene.dice[number - 1] for scene in scenes]
    for scene in scenes:
        scene.spoil(number)
    bench.dice.tell()

    def undo() -> None:
        for scene, die in zip(scenes, sound, strict=True):
            scene.dice[number - 1] = die
        bench.dice.tell()

    return undo


def loaded(bench: Bench, given: Parameters) -> Undo:
    """Let one face of a die fall likelier than one in six."""
    die, face = given.whole("die", 1, 3), given.whole("face", 1, 6)
    bench.dice.loaded[die] = (face, given.number("by", -1 / 6, 5 / 6))

    def undo() -> None:
        bench.dice.loaded.pop(die, None)

    return undo


def camera_frozen(bench: Bench, given: Parameters) -> Undo:
    """Let the picture freeze after so many frames."""
    return _camera(bench, CameraFault("frozen", after=given.whole("after")))


def camera_stale(bench: Bench, given: Parameters) -> Undo:
    """Let every frame be `ms` old, and honestly say so in its stamp."""
    ms = given.number("ms")
    fresh = _camera(bench, CameraFault("stale", ms=ms))
    eye = next(iter(bench.eyes.values()))
    eye.stale_s = ms / 1000

    def undo() -> None:
        eye.stale_s = 0.0
        fresh()

    return undo


def camera_picture(bench: Bench, given: Parameters) -> Undo:
    """Spoil the picture."""
    kind = given.word("kind", ("dark", "saturated", "blurred", "moved"))
    faults = {
        "dark": CameraFault("dark"),
        "saturated": CameraFault("saturated"),
        "blurred": CameraFault("blurred"),
        "moved": CameraFault("moved"),
    }
    return _camera(bench, faults[kind])


def camera_stream(bench: Bench, given: Parameters) -> Undo:
    """Let the stream die, or its frames be corrupt, after so many frames."""
    after = given.whole("after")
    dies = given.word("kind", ("dies", "corrupt")) == "dies"
    return _camera(bench, CameraFault("dies" if dies else "corrupt", after=after))


def _pose(bench: Bench, pose: Pose) -> Undo:
    def lay(box: DiceBox) -> None:
        box.pose = pose

    def free(box: DiceBox) -> None:
        box.pose = None

    return _changed(bench, lay, free)


def _changed(
    bench: Bench, change: Callable[[DiceBox], None], back: Callable[[DiceBox], None]
) -> Undo:
    change(bench.dice)
    bench.dice.tell()

    def undo() -> None:
        back(bench.dice)
        bench.dice.tell()

    return undo


def _scenes(bench: Bench) -> list[Scene]:
    if not bench.eyes:
        raise UnknownFaultError("this bench has no dice camera")
    return [eye.scene for eye in bench.eyes.values()]


def _camera(bench: Bench, fault: CameraFault) -> Undo:
    """Give the fault to the first camera."""
    scene = _scenes(bench)[0]
    scene.fail(fault)
    return lambda: scene.fail(None)
