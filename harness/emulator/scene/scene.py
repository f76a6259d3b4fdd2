"""The dice scene: dice in a tray before a camera, laid, tossed, covered, and photographed."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.emulator.scene.camera import Camera
from harness.emulator.scene.cover import CLEAR, draw_dome, draw_lid
from harness.emulator.scene.dice import STYLES, Die, Hand
from harness.emulator.scene.draw import DiceCanvas, Rect, merge
from harness.emulator.scene.faults import CameraFault, FaultKind, StreamDeadError, spoil, torn
from harness.emulator.scene.lights import Light, Lighting, overhead
from harness.emulator.scene.motion import Motion
from harness.emulator.scene.poses import Placed, Pose, Rest
from harness.emulator.scene.sensor import Grain, Sensor, Still
from harness.emulator.scene.shadow import shade_floor
from harness.emulator.scene.tray import CoverKind, Tray, draw_tray
from harness.emulator.scene.truth import DieTruth, truth_of

Image = NDArray[np.uint8]
Picture = NDArray[np.float32]

_BORDER = 5
"""Dice come to rest at least so many pixels inside the picture."""
_MARGIN = 6
"""Pixels drawn about a changed rectangle, so that blurring it knows its neighbours."""
_STILLS = 4
"""Arrangements of which pictures are kept."""


@dataclass(frozen=True)
class SceneConfig:
    """A whole scene. The default is a fair bench: soft light, plain dice, a sharp camera.

    Dice often come to rest against each other, as they do in a shaker.

    `style` and `hand` are those of all dice; `gap_mm` and `touching` say how dice may lie to one
    another (see `poses.Rest`); `exposure_s` is the camera's, which smears what moves; `bank` is how
    many noisy JPEGs of dice at rest are kept and shown in turn.
    """

    style: str = "white-black"
    hand: Hand = "right"
    edge_mm: float = 16.0
    camera: Camera = field(default_factory=Camera)
    tray: Tray = field(default_factory=Tray)
    lights: tuple[Light, ...] = (
        Light(overhead(40, 62, 700), 0.42, 110.0, "panel"),
        Light(overhead(215, 66, 760), 0.22, 130.0, "panel"),
    )
    ambient: float = 0.36
    cover: CoverKind = "opaque"
    cover_on: bool = False
    sensor: Sensor = field(default_factory=Sensor)
    gap_mm: float = 0.0
    touching: float = 0.45
    exposure_s: float = 0.012
    bank: int = 8


@dataclass(frozen=True)
class _Arrangement:
    """What lies before the camera from `since` on; the dice's motion began at `begun`."""

    number: int
    since: float
    begun: float
    motion: Motion
    covered: bool

    def moving(self, t: float) -> bool:
        # A stale camera may look at a time before the first dice were laid: they lay there.
        return self.begun <= t < self.begun + self.motion.duration


class Scene:
    """Dice in a tray before a camera. Safe to use from several threads.

    Times are seconds on `clock`. Whatever was laid, tossed or covered is in every frame begun after
    the call returned.
    """

    def __init__(
        self, config: SceneConfig, seed: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.config = config
        self.clock = clock
        self._lock = threading.RLock()
        texture, grain, rng = (np.random.default_rng([seed, k]) for k in range(3))
        camera, sensor = config.camera, config.sensor
        self._lighting = Lighting(config.lights, config.ambient, config.tray.floor)
        self._bare, self._floor = draw_tray(config.tray, camera, self._lighting, texture)
        self._dome = draw_dome(config.tray, camera, self._lighting)
        self._lid = draw_lid(config.tray, camera, self._lighting, self._bare)
        self._factors = sensor.fall_off(camera.width, camera.height)
        self._empty = {
            None: self._finish(self._bare),
            "dome": self._finish(self._under_dome(self._bare, slice(None), slice(None))),
            "opaque": self._finish(self._lid),
        }
        self._canvas = DiceCanvas(camera, self._lighting)
        self._coarse = DiceCanvas(camera, self._lighting, samples=1)
        self._grain = Grain(camera.width, camera.height, sensor.noise, grain)
        self._rest = Rest(
            config.tray.wells,
            config.tray.wall,
            gap_mm=config.gap_mm,
            touching=config.touching,
            wanted=self._whole,
        )
        self._stills: OrderedDict[tuple[int, FaultKind | None], Still] = OrderedDict()
        self._frames = 0
        self._fault: CameraFault | None = None
        self._fault_from = 0
        self._frozen: tuple[Image, bytes] | None = None
        turns = tuple(bool(t) for t in rng.integers(0, 2, size=3))
        die = Die(STYLES[config.style], config.hand, config.edge_mm, (turns[0], turns[1], turns[2]))
        self.dice: list[Die] = [die] * 4
        self._past: deque[_Arrangement] = deque(maxlen=64)
        self._covered = config.cover_on and config.cover != "none"
        self.lay((1, 2, 3), "flat", rng)

    # -- what happens to the dice ---------------------------------------------------------------

    def lay(
        self, values: Sequence[int], pose: Pose, rng: np.random.Generator, count: int = 3
    ) -> None:
        """Lay dice at rest with `values` up; with `count` 1, 2 or 4 some are missing or one more.

        Raises `poses.Unplaceable` when they do not fit into the tray.
        """
        self._move(values, pose, rng, count, 0.0)

    def toss(
        self,
        rng: np.random.Generator,
        values: Sequence[int] | None = None,
        duration: float = 0.8,
        pose: Pose = "flat",
        count: int = 3,
    ) -> tuple[int, ...]:
        """Toss the dice: from now on they move, and rest after `duration` s; gives the values."""
        fallen = tuple(int(v) for v in (rng.integers(1, 7, size=3) if values is None else values))
        self._move(fallen, pose, rng, count, duration)
        return fallen

    def cover(self, on: bool) -> None:
        """Put the cover on, or take it off. A scene without a cover stays as it is."""
        with self._lock:
            if self.config.cover != "none" and on != self._covered:
                self._covered = on
                last = self._past[-1]
                self._past.append(
                    replace(last, number=last.number + 1, since=self.clock(), covered=on)
                )

    @property
    def covered(self) -> bool:
        """Tell whether the cover is on."""
        return self._covered

    def spoil(self, die: int) -> None:
        """Exchange die number `die` (1 to 3) for a wrong one, from the next lay or toss on."""
        self.dice[die - 1] = self.dice[die - 1].wrong()

    def fail(self, fault: CameraFault | None) -> None:
        """Give the camera a fault, or with None heal it."""
        with self._lock:
            self._fault, self._fault_from, self._frozen = fault, self._frames, None

    # -- what the camera gives ------------------------------------------------------------------

    def render(self, t: float | None = None) -> Image:
        """Give the picture at time `t` (now if None), BGR uint8 (h, w, 3), with fresh noise.

        Raises `StreamDeadError` when the camera's fault is that it gives no more.
        """
        with self._lock:
            kind = self._living()
            if kind == "frozen":
                return self._stuck(t)[0]
            self._frames += 1
            return self._grain.add(self._picture(self._moment(t), kind).clean)

    def jpeg(self, t: float | None = None) -> bytes:
        """Give the picture at time `t` (now if None) as JPEG; two in a row differ.

        Raises `StreamDeadError` when the camera's fault is that it gives no more.
        """
        with self._lock:
            kind = self._living()
            if kind == "frozen":
                return self._stuck(t)[1]
            self._frames += 1
            data = self._picture(self._moment(t), kind).jpeg(self.config.sensor, self._grain)
            return torn(data) if kind == "corrupt" else data

    def truth(self, t: float | None = None) -> tuple[DieTruth, ...]:
        """Give what truly lies in the tray (under a cover too), whatever the camera shows."""
        return tuple(truth_of(placed, self.config.camera) for placed in self.placed(t))

    def placed(self, t: float | None = None) -> tuple[Placed, ...]:
        """Give the dice's bodies as they lie or move at time `t` (now if None)."""
        with self._lock:
            last = self._past[-1]
            return last.motion.at((self.clock() if t is None else t) - last.begun)

    # -- inside ---------------------------------------------------------------------------------

    def _move(
        self,
        values: Sequence[int],
        pose: Pose,
        rng: np.random.Generator,
        count: int,
        seconds: float,
    ) -> None:
        """Let the dice move for some seconds and then rest."""
        # A wrong die is turned as a good one would be, and shows what it has there.
        wanted = [*values, *rng.integers(1, 7, size=max(0, count - len(values)))][:count]
        dice = self.dice[:count]
        slots = [die.nominal.index(int(v)) for die, v in zip(dice, wanted, strict=True)]
        rest = self._rest.lay(dice, slots, pose, rng)
        motion = Motion.toss(rest, self.config.tray.wells, seconds, rng)
        with self._lock:
            number = self._past[-1].number + 1 if self._past else 0
            now = self.clock()
            self._past.append(_Arrangement(number, now, now, motion, self._covered))

    def _whole(self, placed: Placed) -> bool:
        """Tell whether the whole die is in the picture."""
        seen = self.config.camera.project(placed.vertices())
        size = np.array([self.config.camera.width, self.config.camera.height])
        return bool((seen > _BORDER).all() and (seen < size - _BORDER).all())

    def _living(self) -> FaultKind | None:
        """Give the kind of fault that shows by now; raises if it is the stream's end."""
        fault = self._fault
        if fault is None or self._frames - self._fault_from < fault.after:
            return None
        if fault.kind == "dies":
            raise StreamDeadError("the camera gives no more frames")
        return fault.kind

    def _moment(self, t: float | None) -> float:
        """Give the time the camera shows at time `t`."""
        now = self.clock() if t is None else t
        fault = self._fault
        if fault is not None and fault.kind == "stale" and self._living() == "stale":
            return now - fault.ms / 1000
        return now

    def _arranged(self, t: float, stale: bool) -> _Arrangement:
        """Give what lay there at time `t`: the latest unless the camera is stale."""
        if not stale:
            return self._past[-1]
        return next((a for a in reversed(self._past) if a.since <= t), self._past[0])

    def _stuck(self, t: float | None) -> tuple[Image, bytes]:
        """Give the frame a frozen camera repeats."""
        if self._frozen is None:
            image = self._grain.add(self._picture(self._moment(t), None).clean)
            self._frozen = (image, self.config.sensor.encode(image))
        self._frames += 1
        return self._frozen

    def _picture(self, t: float, kind: FaultKind | None) -> Still:
        """Give the picture at time `t` without noise; it is kept if nothing moves."""
        arrangement = self._arranged(t, kind == "stale")
        hidden = arrangement.covered and self.config.cover == "opaque"
        if arrangement.moving(t) and not hidden:
            return Still(spoil(self._drawn(arrangement, t), kind), self.config.bank)
        key = (arrangement.number, kind)
        if key not in self._stills:
            clean = spoil(self._drawn(arrangement, np.inf), kind)
            self._stills[key] = Still(clean, self.config.bank)
            if len(self._stills) > _STILLS:
                self._stills.popitem(last=False)
        self._stills.move_to_end(key)
        return self._stills[key]

    def _drawn(self, arrangement: _Arrangement, t: float) -> Image:
        """Draw a picture without noise: only what the dice change is drawn anew."""
        cover = self.config.cover if arrangement.covered else None
        if cover == "opaque":
            return self._empty["opaque"]
        light = self._bare.copy()
        if arrangement.moving(t):
            rects = self._smeared(light, arrangement.motion, t - arrangement.begun)
        else:
            rects = self._shadow(light, arrangement.motion.rest, samples=7)
            rects += self._canvas.draw(light, arrangement.motion.rest)
        image = self._empty["dome" if cover == "dome" else None].copy()
        for x0, y0, x1, y1 in merge(rects):
            top, left = max(0, y0 - _MARGIN), max(0, x0 - _MARGIN)
            rows, columns = slice(top, y1 + _MARGIN), slice(left, x1 + _MARGIN)
            part = light[rows, columns]
            if cover == "dome":
                part = self._under_dome(part, rows, columns)
            done = self._finish(part, rows, columns)
            image[y0:y1, x0:x1] = done[y0 - top : y1 - top, x0 - left : x1 - left]
        return image

    def _under_dome(self, light: Picture, rows: slice, columns: slice) -> Picture:
        seen: Picture = light * np.float32(CLEAR) + self._dome[rows, columns, None]
        return seen

    def _finish(
        self, light: Picture, rows: slice = slice(None), columns: slice = slice(None)
    ) -> Image:
        """Pass light through lens and sensor, all but the noise."""
        blur = self.config.camera.defocus_px
        if blur > 0.05:
            light = np.asarray(cv2.GaussianBlur(light, (0, 0), blur), dtype=np.float32)
        return self.config.sensor.develop(light, self._factors[rows, columns])

    def _shadow(self, light: Picture, dice: Sequence[Placed], samples: int) -> list[Rect]:
        """Throw the dice's shadows into `light`; gives the rectangles changed."""
        shade = shade_floor(dice, self.config.camera, self._lighting, samples)
        if shade is None:
            return []
        factors, rect = shade
        x0, y0, x1, y1 = rect
        on_floor = self._floor[y0:y1, x0:x1]
        light[y0:y1, x0:x1] *= (1 - on_floor * (1 - factors))[..., None]
        return [rect]

    def _smeared(self, light: Picture, motion: Motion, elapsed: float) -> list[Rect]:
        """Draw moving dice, smeared along the way they make during the exposure."""
        camera, past = self.config.camera, max(0.0, elapsed - self.config.exposure_s)
        dice = motion.at(elapsed)
        rects = self._shadow(light, dice, samples=2)
        pairs = zip(dice, motion.at(past), strict=True)
        for now, before in sorted(pairs, key=lambda pair: float(pair[0].position[2])):
            seen = camera.project(np.stack([before.position, now.position]))
            rects += self._coarse.smear(light, now, seen[1] - seen[0])
        return rects
