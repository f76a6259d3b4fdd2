"""A layout camera's calibration as kept: where each area's lamps lie, their light dark and lit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.verdicts import InvalidFileError, Problem
from harness.vision.calibration import check_digest, digest_of, read_body

CORNERS = 4
"""Markers of a layout."""


@dataclass(frozen=True, slots=True)
class LampSpot:
    """Where one lamp is: middle and radius, in the layout's coordinates (of its width)."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True)
class LampReference:
    """A layout's calibration: spots by area, dark and lit light of each spot and its surroundings.

    `corners_px`: the markers' middles at calibration, used where no markers are seen. `aspect`: the
    layout's width over its height. camera, made (date, ISO 8601), size_px (of its pictures; 0: not
    known), settings (digest of the camera's settings in the rig file): as in
    `calibration.Profile`. `areas_by`: who says which spot is which area.
    """

    spots: Mapping[str, tuple[LampSpot, ...]]
    corners_px: tuple[tuple[float, float], ...]
    dark: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    lit: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    around: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    aspect: float = 1.0
    camera: str = ""
    made: str = ""
    size_px: tuple[int, int] = (0, 0)
    settings: str = ""
    areas_by: str = ""

    @property
    def digest(self) -> str:
        """Give the SHA-256 of the reference's contents."""
        return digest_of(reference_body(self))


def reference_body(reference: LampReference) -> dict[str, Any]:
    """Give a reference as JSON values, without its hash."""
    return {
        "camera": reference.camera,
        "made": reference.made,
        "settings": reference.settings,
        "areas_by": reference.areas_by,
        "size_px": list(reference.size_px),
        "aspect": reference.aspect,
        "corners_px": [list(corner) for corner in reference.corners_px],
        "areas": {
            area: {
                "spots": [[s.x, s.y, s.radius] for s in of_area],
                "dark": list(reference.dark[area]),
                "lit": list(reference.lit[area]),
                "around": list(reference.around[area]),
            }
            for area, of_area in reference.spots.items()
        },
    }


def save_reference(reference: LampReference, path: Path) -> None:
    """Write a layout's reference as JSON with its hash."""
    body = reference_body(reference) | {"sha256": reference.digest}
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")


def load_reference(path: Path) -> LampReference:
    """Read what `save_reference` wrote; raises InvalidFileError if it is something else."""
    body = read_body(path)
    try:
        reference = reference_of(body)
        whole = len(reference.corners_px) == CORNERS and all(
            len(spots) == len(light[area]) > 0
            for light in (reference.dark, reference.lit, reference.around)
            for area, spots in reference.spots.items()
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = Problem("file", "a layout camera's calibration", f"{error!r}")
        raise InvalidFileError(str(path), [problem]) from error
    if not whole:
        problem = Problem("areas", "dark, lit and surroundings of each lamp; four corners", "fewer")
        raise InvalidFileError(str(path), [problem])
    check_digest(path, body.get("sha256"), reference.digest)
    return reference


def reference_of(body: Mapping[str, Any]) -> LampReference:
    """Read a reference from JSON values; KeyError, TypeError or ValueError if they are others."""
    areas = body["areas"]
    width, height = body["size_px"]
    return LampReference(
        {a: tuple(LampSpot(*map(float, s)) for s in v["spots"]) for a, v in areas.items()},
        tuple((float(x), float(y)) for x, y in body["corners_px"]),
        dark={a: tuple(map(float, v["dark"])) for a, v in areas.items()},
        lit={a: tuple(map(float, v["lit"])) for a, v in areas.items()},
        around={a: tuple(map(float, v["around"])) for a, v in areas.items()},
        aspect=float(body["aspect"]),
        camera=str(body["camera"]),
        made=str(body["made"]),
        size_px=(int(width), int(height)),
        settings=str(body["settings"]),
        areas_by=str(body["areas_by"]),
    )
