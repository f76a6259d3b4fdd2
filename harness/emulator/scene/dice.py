"""Dice as bodies: styles, hands, and the pips on their faces.

A die's own frame has its origin in the middle and its faces across the axes. Faces are listed as
+x, -x, +y, -y, +z, -z; the face across axis k has its u along axis k+1 and its v along axis k+2
(cyclic). Pip sizes and places are ratios as measured on casino and Far Eastern dice of 14 to 19 mm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Hand = Literal["right", "left"]
Picture = NDArray[np.float32]

RIGHT_HANDED = (2, 5, 3, 4, 1, 6)
"""1, 2, 3 run counter-clockwise about their common corner (casino dice)."""
LEFT_HANDED = (3, 4, 2, 5, 1, 6)
ATLAS_SIZE = 192


@dataclass(frozen=True)
class Style:
    """How dice of one make look. Colours are linear BGR albedos.

    `edge_round` and `corner_round` are in half edges: the radius of the edges, and the radius of
    the sphere that cuts the corners (1.73 leaves them whole). `pip_radius` is in edges, `pip_place`
    in half edges. `bowl` is the slope of a drilled pip's rim, 0 for flush pips. `gloss` is the
    reflectance at normal incidence, `haze_deg` how far reflections are spread. `one` is the colour
    of the pips of 1 and 4, `one_radius` the radius of that of 1, where they differ from the others.
    """

    name: str
    body: tuple[float, float, float]
    pip: tuple[float, float, float]
    pip_radius: float = 0.093
    pip_place: float = 0.5
    edge_round: float = 0.12
    corner_round: float = 1.5
    bowl: float = 0.5
    gloss: float = 0.04
    haze_deg: float = 5.0
    clear: bool = False
    one: tuple[float, float, float] | None = None
    one_radius: float | None = None


_BLACK = (0.012, 0.012, 0.012)
_WHITE = (0.80, 0.82, 0.82)
_RED = (0.030, 0.022, 0.55)

STYLES: dict[str, Style] = {
    style.name: style
    for style in (
        Style("white-black", (0.76, 0.79, 0.80), _BLACK),
        Style("red", (0.030, 0.025, 0.42), _WHITE, bowl=0.3),
        Style(
            "translucent-red", (0.025, 0.020, 0.36), _WHITE, pip_radius=0.098, edge_round=0.03,
            corner_round=1.70, bowl=0.0, gloss=0.05, haze_deg=1.5, clear=True,
        ),
        Style(
            "asian", (0.78, 0.80, 0.80), _BLACK, pip_radius=0.092, pip_place=0.43,
            edge_round=0.10, corner_round=1.44, bowl=0.7, one=_RED, one_radius=0.175,
        ),
        Style("black", (0.016, 0.015, 0.015), _WHITE, edge_round=0.07, corner_round=1.6),
        Style("blue", (0.38, 0.10, 0.025), _WHITE, bowl=0.3),
        Style("green", (0.07, 0.24, 0.03), _WHITE, bowl=0.3),
        Style("ivory", (0.45, 0.68, 0.76), _BLACK, pip_radius=0.088),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Die:
    """One die. `faces` are the printed values, which a wrong die has otherwise than its hand says.

    `turns` gives for the faces 2, 3 and 6 which of their two directions the pips take.
    """

    style: Style
    hand: Hand = "right"
    edge_mm: float = 16.0
    turns: tuple[bool, bool, bool] = (False, False, False)
    faces: tuple[int, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.faces:
            object.__setattr__(self, "faces", self.nominal)

    @property
    def nominal(self) -> tuple[int, ...]:
        """The faces a good die of this hand has."""
        return RIGHT_HANDED if self.hand == "right" else LEFT_HANDED

    def turned(self, face: int) -> bool:
        """Tell which of two directions the pips of a face take."""
        return {2: self.turns[0], 3: self.turns[1], 6: self.turns[2]}.get(self.faces[face], False)

    def wrong(self) -> Die:
        """Give the die as F56 has it: the six is a second one, so 1 lies opposite 1."""
        faces = tuple(1 if value == 6 else value for value in self.nominal)
        return Die(self.style, self.hand, self.edge_mm, self.turns, faces)


def pip_places(value: int, turned: bool) -> list[tuple[float, float]]:
    """Give the pips' places on a face, in units of the style's `pip_place`."""
    diagonal = [(-1.0, -1.0), (1.0, 1.0)]
    other = [(-1.0, 1.0), (1.0, -1.0)]
    if value == 6:
        sides = [(side, along) for side in (-1.0, 1.0) for along in (-1.0, 0.0, 1.0)]
        return [(v, u) for u, v in sides] if turned else sides
    places: list[tuple[float, float]] = [(0.0, 0.0)] if value % 2 else []
    if value >= 2:
        places += other if turned else diagonal
    if value >= 4:
        places += diagonal if turned else other
    return places


def face_pips(die: Die, face: int) -> NDArray[np.float64]:
    """Give the pips' centres on a face in the die's frame, shape (n, 3), mm."""
    value, half = die.faces[face], die.edge_mm / 2
    axis, sign = face // 2, 1.0 if face % 2 == 0 else -1.0
    out = np.zeros((value, 3))
    places = np.array(pip_places(value, die.turned(face))) * die.style.pip_place * half
    out[:, axis] = sign * half
    out[:, (axis + 1) % 3] = places[:, 0]
    out[:, (axis + 2) % 3] = places[:, 1]
    return out


def pip_radius(style: Style, value: int) -> float:
    """Give the radius, in edges, of a face's pips."""
    return style.one_radius or style.pip_radius if value == 1 else style.pip_radius


@lru_cache(maxsize=64)
def die_atlas(die: Die) -> Picture:
    """Draw a die's six faces one below the other, (6 ATLAS_SIZE, ATLAS_SIZE, 4).

    Layers: how much of the place is pip, the slope of a drilled pip along u and v, and how much is
    a pip of the other colour. Row is v, column is u, from -1 to 1 half edges at a face's borders.
    """
    atlas = np.concatenate([_face_atlas(die, face) for face in range(6)])
    atlas.setflags(write=False)
    return atlas


def _face_atlas(die: Die, face: int) -> Picture:
    style, value = die.style, die.faces[face]
    line = (np.arange(ATLAS_SIZE, dtype=np.float32) + 0.5) / ATLAS_SIZE * 2 - 1
    u, v = np.meshgrid(line, line)
    radius = 2 * pip_radius(style, value)
    atlas = np.zeros((ATLAS_SIZE, ATLAS_SIZE, 4), dtype=np.float32)
    for place_u, place_v in pip_places(value, die.turned(face)):
        du, dv = u - place_u * style.pip_place, v - place_v * style.pip_place
        distance = np.sqrt(du * du + dv * dv)
        inside = np.clip((radius - distance) * ATLAS_SIZE / 2 + 0.5, 0, 1)
        atlas[..., 0] += inside
        # A drilled pip is a shallow bowl: its wall faces the pip's middle.
        atlas[..., 1] -= inside * du / radius * style.bowl
        atlas[..., 2] -= inside * dv / radius * style.bowl
    if value in (1, 4):
        atlas[..., 3] = atlas[..., 0]
    return atlas
