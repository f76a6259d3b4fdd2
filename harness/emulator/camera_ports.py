"""Puts the rig file's cameras on the network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np

from harness.emulator.bench import Bench
from harness.emulator.devices.ports import is_emulated
from harness.emulator.dice_cameras import DiceCameras, Eye
from harness.emulator.lamps import Lamp
from harness.emulator.mjpeg import Camera as Stream
from harness.emulator.mjpeg import MjpegServer
from harness.emulator.rigfile import Device, RigFileError, lamp_places, number, table
from harness.emulator.scene import (
    STYLES,
    Camera,
    LayoutConfig,
    LayoutScene,
    Scene,
    SceneConfig,
    placed,
    set_out,
)
from harness.emulator.scene.hard import draw_hard
from harness.emulator.scene.tray import CoverKind

_FPS_MARGIN = 1.1
"""A camera that promises a rate delivers a little more."""
_SIZE = [640, 360]
_MARKERS = [[16, 16], [624, 16], [624, 344], [16, 344]]


def install_cameras(bench: Bench) -> Callable[[], None]:
    """Serve the cameras; give what returns once every later frame of the dice shows the present."""
    devices = [device for device in bench.rig.devices.values() if is_emulated(device)]
    for device in devices:
        if device.driver == "layout-camera":
            layout = _layout(bench, device)
            bench.layouts.append(layout)
            _serve(bench, device, partial(_layout_jpeg, bench, layout), _fps(device))
    cameras = [device for device in devices if device.driver == "camera"]
    if not cameras:
        return lambda: None
    eyes = {device.name: _eye(bench, device, index) for index, device in enumerate(cameras)}
    scenes = DiceCameras(bench.timeline, bench.dice, bench.shaker, [*eyes.values()], bench.seed)
    bench.on_close(scenes.close)
    for device in cameras:
        _serve(bench, device, eyes[device.name].jpeg, eyes[device.name].fps)
    bench.eyes.update(eyes)
    return scenes.wait_until_shown


def _serve(bench: Bench, device: Device, stream: Stream, fps: float) -> None:
    server = MjpegServer({device.name: stream}, fps=fps)
    bench.on_close(server.close)
    bench.endpoints[device.name] = server.url(device.name)


def _fps(device: Device) -> float:
    return _FPS_MARGIN * number(device.settings, "min_fps", 30.0, f"devices.{device.name}")


def _layout_jpeg(bench: Bench, layout: LayoutScene) -> bytes:
    with bench.timeline.lock:
        bench.timeline.catch_up()
        levels = bench.table.lamps.exposed(layout.config.exposure_s)
    return layout.jpeg({name: levels[name] for name in layout.plan.panes if name in levels})


def _layout(bench: Bench, device: Device) -> LayoutScene:
    """Give the layout: as the rig file says it lies, else seen at a slant."""
    where = f"{bench.rig.path}: devices.{device.name}"
    mains_hz = number(bench.rig.table, "mains_hz", 50.0, "table")
    exposure_ms = number(device.settings, "exposure_ms", 1000 / mains_hz, where)
    config = LayoutConfig(exposure_s=exposure_ms / 1000, hum_hz=2 * mains_hz)
    regions = device.settings.get("regions")
    if not regions:
        plan = set_out([lamp.name for lamp in bench.table.lamps.lamps])
        return LayoutScene(plan, config, bench.seed)
    try:
        width, height = cast("list[int]", device.settings.get("size", _SIZE))
        spots = {
            Lamp(str(area), number).name: (float(x), float(y), float(radius))
            for area, places in cast("Mapping[str, list[object]]", regions).items()
            for number, (x, y, radius) in enumerate(lamp_places(places))
        }
        markers = [
            (float(x), float(y))
            for x, y in cast("list[list[float]]", device.settings.get("markers", _MARKERS))
        ]
    except (TypeError, ValueError, AttributeError):
        raise RigFileError(
            f"{where}: expected size = [w, h], regions of [x, y, radius] (or a list of these), "
            "markers of [x, y]"
        ) from None
    plan, camera = placed((width, height), spots, markers)
    return LayoutScene(plan, replace(config, camera=camera), bench.seed)


def _eye(bench: Bench, device: Device, index: int) -> Eye:
    """Make a camera; a second one looks from the other side."""
    look = table(bench.rig.options, "scene", "emulator.options.")
    style = look.get("style", "white-black")
    if style not in STYLES:
        raise RigFileError(
            f"{bench.rig.path}: emulator.options.scene.style: expected one of {', '.join(STYLES)}, "
            f"found {style!r}"
        )
    cover: CoverKind = "opaque" if bench.shaker.settings.has_cover else "none"
    if look.get("hard") is True:
        rng = np.random.default_rng([bench.seed, 13, index])
        styles = (str(style),) if "style" in look else tuple(STYLES)
        config = replace(draw_hard(rng, styles), cover=cover, cover_on=False)
        return Eye(partial(Scene, config, bench.seed), _fps(device))
    camera = Camera()
    camera = replace(camera, azimuth_deg=camera.azimuth_deg + 180.0 * index)
    config = SceneConfig(
        style=str(style),
        hand="left" if look.get("hand") == "left" else "right",
        camera=replace(
            camera, tilt_deg=number(look, "tilt_deg", camera.tilt_deg, "emulator.options.scene")
        ),
        cover=cover,
    )
    return Eye(partial(Scene, config, bench.seed), _fps(device))
