"""Puts the rig file's dice cameras on the network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from harness.emulator.bench import Bench
from harness.emulator.devices.ports import is_emulated
from harness.emulator.dice_cameras import DiceCameras, Eye
from harness.emulator.mjpeg import MjpegServer
from harness.emulator.rigfile import Device, RigFileError, number, table
from harness.emulator.scene import STYLES, Camera, Scene, SceneConfig

_FPS_MARGIN = 1.1
"""A camera that promises a rate delivers a little more."""


def install_cameras(bench: Bench) -> Callable[[], None]:
    """Serve the dice cameras; give what returns once every later frame shows the present."""
    devices = [
        device
        for device in bench.rig.devices.values()
        if device.driver == "camera" and is_emulated(device)
    ]
    if not devices:
        return lambda: None
    eyes = {device.name: _eye(bench, device, index) for index, device in enumerate(devices)}
    cameras = DiceCameras(bench.timeline, bench.dice, bench.shaker, [*eyes.values()], bench.seed)
    for name, eye in eyes.items():
        server = MjpegServer({name: eye.jpeg}, fps=eye.fps)
        bench.on_close(server.close)
        bench.endpoints[name] = server.url(name)
    bench.eyes.update(eyes)
    return cameras.wait_until_shown


def _eye(bench: Bench, device: Device, index: int) -> Eye:
    """Make a camera; a second one looks from the other side."""
    look = table(bench.rig.options, "scene", "emulator.options.")
    style = look.get("style", "white-black")
    if style not in STYLES:
        raise RigFileError(
            f"{bench.rig.path}: emulator.options.scene.style: expected one of {', '.join(STYLES)}, "
            f"found {style!r}"
        )
    camera = Camera()
    camera = replace(camera, azimuth_deg=camera.azimuth_deg + 180.0 * index)
    config = SceneConfig(
        style=str(style),
        hand="left" if look.get("hand") == "left" else "right",
        camera=replace(
            camera, tilt_deg=number(look, "tilt_deg", camera.tilt_deg, "emulator.options.scene")
        ),
        cover="opaque" if bench.shaker.settings.has_cover else "none",
    )
    fps = number(device.settings, "min_fps", 30.0, f"devices.{device.name}")
    return Eye(partial(Scene, config, bench.seed), fps * _FPS_MARGIN)
