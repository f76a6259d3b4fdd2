"""The dice scene, drawn from physics: bodies at rest or in motion, light, lens and sensor."""

from harness.emulator.scene.camera import Camera
from harness.emulator.scene.dice import STYLES, Die, Style
from harness.emulator.scene.faults import FAULT_KINDS, CameraFault, StreamDeadError
from harness.emulator.scene.layout import LayoutConfig, LayoutPlan, LayoutScene, placed, set_out
from harness.emulator.scene.lights import Light
from harness.emulator.scene.poses import Placed, Pose, Unplaceable
from harness.emulator.scene.scene import Scene, SceneConfig
from harness.emulator.scene.sensor import Sensor
from harness.emulator.scene.tray import Tray
from harness.emulator.scene.truth import DieTruth

__all__ = [
    "FAULT_KINDS",
    "STYLES",
    "Camera",
    "CameraFault",
    "Die",
    "DieTruth",
    "LayoutConfig",
    "LayoutPlan",
    "LayoutScene",
    "Light",
    "Placed",
    "Pose",
    "Scene",
    "SceneConfig",
    "Sensor",
    "StreamDeadError",
    "Style",
    "Tray",
    "Unplaceable",
    "placed",
    "set_out",
]
