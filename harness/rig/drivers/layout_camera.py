"""A camera that looks at the layout: lamps by picture.

It takes frames as the `camera` driver does; what is lit in them is read elsewhere. The rig file
says where each lamp lies and where the rig's own markers are, so that a moved camera is noticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, cast

from pydantic import BeforeValidator, Field

from harness.rig.device import Capability, DeviceSettings, Surroundings
from harness.rig.drivers.camera import Camera, CameraSettings, LiveCamera, StoredPictures

Coordinate = Annotated[float, Field(ge=0)]
Place = tuple[Coordinate, Coordinate, Annotated[float, Field(gt=0)]]


def _listed(value: object) -> object:
    """Take one place for a list of one."""
    several = isinstance(value, list) and value and isinstance(value[0], list | tuple)
    return value if several or not isinstance(value, list | tuple) else [value]


Places = Annotated[tuple[Place, ...], BeforeValidator(_listed), Field(min_length=1)]


class LayoutCameraSettings(CameraSettings):
    """Section of a `layout-camera`.

    size: width and height in px of the picture that all places refer to. regions: for each area its
    lamp's x, y and radius in px, or a list of them where it has several lamps. markers: centres of
    the rig's markers, x, y in px.
    """

    size: tuple[int, int] | None = None
    regions: Mapping[str, Places] = Field(default_factory=dict)
    markers: tuple[tuple[Coordinate, Coordinate], ...] = ()


class LayoutCamera:
    """The `layout-camera` driver: opens what its source is."""

    settings_type: ClassVar[type[DeviceSettings]] = LayoutCameraSettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"camera"})

    @classmethod
    def open(
        cls, name: str, settings: DeviceSettings, around: Surroundings
    ) -> LiveCamera | StoredPictures:
        """Open the source and have a first picture from it."""
        return Camera.open(name, cast("LayoutCameraSettings", settings), around)
