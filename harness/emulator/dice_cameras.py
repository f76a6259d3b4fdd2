"""The dice cameras: pictures of what lies in the dice box, as streams that a harness can watch."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future

import numpy as np

from harness.emulator.clock import Timeline
from harness.emulator.dice_box import DiceBox, Lying
from harness.emulator.mjpeg import Exposure
from harness.emulator.scene import Scene, Unplaceable
from harness.emulator.shaker import RefusedError, Shaker

_TRIES = 5


class Eye:
    """One camera's frames on demand, and a way to wait until they show the latest.

    Its scene is set up in the background, so that the bench need not wait for it.
    """

    def __init__(self, make_scene: Callable[[], Scene], fps: float) -> None:
        self.fps = fps
        self.stale_s = 0.0
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

    def jpeg(self) -> Exposure:
        """Expose the next frame. A stale camera's was exposed as long ago as its fault says."""
        began = time.time()
        with self._changed:
            self._begun += 1
            self._last = time.monotonic()
            self._changed.notify_all()
        return Exposure(self.scene.jpeg(), began - self.stale_s)

    def wait_for_new_frame(self) -> None:
        """Return once a frame has begun after this call; at once if nobody watches.

        The frame before it has then been sent, so no later frame shows an earlier moment.
        """
        with self._changed:
            if time.monotonic() - self._last < 5 / self.fps:
                begun = self._begun
                self._changed.wait_for(lambda: self._begun > begun, timeout=0.2)


class DiceCameras:
    """All dice cameras of the bench; keeps their scenes as the dice and the cover are.

    Scenes are changed by a thread of their own: drawing must never hold up the bench's wires.
    """

    def __init__(
        self, timeline: Timeline, dice: DiceBox, shaker: Shaker, eyes: Sequence[Eye], seed: int
    ) -> None:
        self.eyes = tuple(eyes)
        self._timeline = timeline
        self._shaker = shaker
        self._rngs = [np.random.default_rng([seed, 7]) for _ in self.eyes]
        self._changed = threading.Condition()
        self._lying: tuple[Lying, float] | None = None
        self._cover: bool | None = None
        self._failure: str | None = None
        self._busy = False
        self._closed = False
        dice.listeners.append(self._dice_changed)
        shaker.listeners.append(self._cover_changed)
        self._worker = threading.Thread(target=self._work, name="dice cameras", daemon=True)
        self._worker.start()

    def wait_until_shown(self) -> None:
        """Return once every later frame shows the bench as it is now.

        Raises `RefusedError` where the dice cannot be shown.
        """
        with self._changed:
            self._changed.wait_for(self._up_to_date)
            failure, self._failure = self._failure, None
        if failure is not None:
            raise RefusedError(failure)
        for eye in self.eyes:
            eye.wait_for_new_frame()

    def close(self) -> None:
        """Return once no scene is touched any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._worker.join()
        for eye in self.eyes:
            eye.close()

    def _dice_changed(self, lying: Lying) -> None:
        at_rest = time.monotonic() + self._timeline.clock.wall_seconds(lying.moves_for_s)
        with self._changed:
            self._lying = lying, at_rest
            self._changed.notify_all()

    def _cover_changed(self) -> None:
        with self._changed:
            self._cover = self._shaker.cover_on
            self._changed.notify_all()

    def _up_to_date(self) -> bool:
        return self._closed or (self._lying is None and self._cover is None and not self._busy)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._closed or not self._up_to_date())
                if self._closed:
                    return
                (lying, self._lying), (cover, self._cover) = (
                    (self._lying, None),
                    (self._cover, None),
                )
                self._busy = True
            try:
                for eye, rng in zip(self.eyes, self._rngs, strict=True):
                    if cover is not None:
                        eye.scene.cover(cover)
                    if lying is not None:
                        _show(eye, rng, *lying)
            except Exception as error:
                with self._changed:
                    self._failure = f"the dice cannot be shown: {error}"


def _show(eye: Eye, rng: np.random.Generator, lying: Lying, at_rest: float) -> None:
    """Lay the dice in a scene, or toss them. A place that does not do is tried again elsewhere."""
    for left in reversed(range(_TRIES)):
        try:
            if lying.moves_for_s:
                seconds = max(0.02, at_rest - time.monotonic())
                eye.scene.toss(rng, lying.values, seconds, lying.pose, lying.count)
            else:
                eye.scene.lay(lying.values, lying.pose, rng, lying.count)
        except Unplaceable:
            if not left:
                raise
        else:
            return
