"""The dice cameras: pictures of what lies in the dice box, as streams that a harness can watch."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future

import numpy as np

from harness.emulator.clock import Timeline
from harness.emulator.dice_box import DiceBox, Lying
from harness.emulator.scene import Scene
from harness.emulator.shaker import Shaker


class Eye:
    """One camera's frames on demand, and a way to wait until they show the latest.

    Its scene is set up in the background, so that the bench need not wait for it.
    """

    def __init__(self, make_scene: Callable[[], Scene], fps: float) -> None:
        self.fps = fps
        self._made: Future[Scene] = Future()
        self._maker = threading.Thread(target=self._make, args=(make_scene,), name="scene")
        self._maker.start()
        self._begun = 0
        self._last = 0.0
        self._changed = threading.Condition()

    @property
    def scene(self) -> Scene:
        """Give the scene, as soon as it is there."""
        return self._made.result()

    def close(self) -> None:
        """Return once nothing of the scene is being set up any more."""
        self._maker.join()

    def _make(self, make_scene: Callable[[], Scene]) -> None:
        try:
            self._made.set_result(make_scene())
        except Exception as error:
            self._made.set_exception(error)

    def jpeg(self) -> bytes:
        """Give the next frame."""
        with self._changed:
            self._begun += 1
            self._last = time.monotonic()
            self._changed.notify_all()
        return self.scene.jpeg()

    def wait_for_new_frame(self) -> None:
        """Return once a frame has begun after this call; at once if nobody watches.

        The frame before it has then been sent, so no later frame shows an earlier moment.
        """
        with self._changed:
            if time.monotonic() - self._last < 5 / self.fps:
                begun = self._begun
                self._changed.wait_for(lambda: self._begun > begun, timeout=0.2)


class DiceCameras:
    """All dice cameras of the bench; keeps their scenes as the dice and the cover are."""

    def __init__(
        self, timeline: Timeline, dice: DiceBox, shaker: Shaker, eyes: Sequence[Eye], seed: int
    ) -> None:
        self.eyes = tuple(eyes)
        self._timeline = timeline
        self._shaker = shaker
        self._dice = dice
        self._rngs = [np.random.default_rng([seed, 7]) for _ in self.eyes]
        dice.listeners.append(self._dice_changed)
        shaker.listeners.append(self._cover_changed)

    def wait_until_shown(self) -> None:
        """Return once every later frame shows the bench as it is now."""
        for eye in self.eyes:
            eye.wait_for_new_frame()

    def _dice_changed(self, lying: Lying) -> None:
        seconds = self._timeline.clock.wall_seconds(lying.moves_for_s)
        for eye, rng in zip(self.eyes, self._rngs, strict=True):
            if lying.moves_for_s:
                eye.scene.toss(rng, lying.values, seconds, lying.pose, lying.count)
            else:
                eye.scene.lay(lying.values, lying.pose, rng, lying.count)

    def _cover_changed(self) -> None:
        for eye in self.eyes:
            eye.scene.cover(self._shaker.cover_on)
