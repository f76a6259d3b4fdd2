"""What the emulated dice camera costs: `python -m tests.benchmarks.emulated_camera`.

Processor time, so other work on the machine weighs little: ms a frame of dice that lie, of a new
pose and of moving dice; and a served stream's share of one core, at rest and with four new poses a
second.

With `--tosses N [--first SCENE] [--hard SHARE] [--calibrate] [--keep DIR]` it reads N tosses
instead, over all styles, and prints misreads, refusals by reason and the bound on the rate of
misreads.
"""

from __future__ import annotations

import argparse
import socket
import threading
import time
from pathlib import Path

import cv2
import numpy as np

from harness.emulator.mjpeg import MjpegServer
from harness.emulator.scene import Camera, Scene, SceneConfig
from tests.benchmarks.emulated_tosses import toss

VGA = Camera(width=640, height=480, focal_px=1400.0)


def milliseconds(camera: Camera) -> dict[str, float]:
    """Measure frames of each kind, in ms of processor time."""
    rng = np.random.default_rng(0)
    clock = [0.0]
    scene = Scene(SceneConfig(camera=camera), 1, lambda: clock[0])
    cost = {}

    def measure(name: str, repeats: int, act) -> None:
        started = time.thread_time()
        for _ in range(repeats):
            act()
        cost[name] = (time.thread_time() - started) / repeats * 1000

    def new_pose() -> None:
        scene.lay((1, 2, 3), "flat", rng)
        scene.render()

    def moving() -> None:
        clock[0] += 0.01
        scene.render()

    measure("at rest", 200, scene.render)
    measure("new pose", 30, new_pose)
    measure("new pose, JPEG", 30, lambda: (new_pose(), scene.jpeg()))
    scene.toss(rng, duration=100.0)
    measure("moving", 20, moving)
    return cost


def served(poses_a_second: float, seconds: float = 3.0) -> float:
    """Measure the share of a core that a 60 Hz stream to one client takes."""
    scene = Scene(SceneConfig(), 1)
    rng = np.random.default_rng(0)
    with MjpegServer({"dice-camera": scene.jpeg}) as server:
        host, port = server.url("x").split("/")[2].split(":")
        with socket.create_connection((host, int(port))) as link:
            link.sendall(b"GET /dice-camera HTTP/1.1\r\n\r\n")
            read = [0.0]

            def drain() -> None:
                while link.recv(65536):
                    read[0] = time.thread_time()

            reader = threading.Thread(target=drain)
            reader.start()
            time.sleep(0.5)
            used, began, until = time.process_time() - read[0], time.monotonic(), 0.0
            while (now := time.monotonic() - began) < seconds:
                if poses_a_second and now >= until:
                    scene.lay((1, 2, 3), "flat", rng)
                    until += 1 / poses_a_second
                time.sleep(0.01)
            share = (time.process_time() - read[0] - used) / seconds
            link.shutdown(socket.SHUT_RDWR)
            reader.join()
    return share


def costs() -> None:
    """Print what frames cost."""
    for name, camera in (("480 x 360", Camera()), ("640 x 480", VGA)):
        spent = ", ".join(f"{kind} {ms:.2f} ms" for kind, ms in milliseconds(camera).items())
        print(f"{name}: {spent}")
    print(f"60 Hz stream, one client, dice at rest: {served(0):.1%} of a core")
    print(f"60 Hz stream, one client, four poses a second: {served(4):.1%} of a core")


def main() -> None:
    """Measure costs, or read tosses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tosses", type=int, default=0, help="how many tosses to read")
    parser.add_argument("--first", type=int, default=0, help="number of the first scene")
    parser.add_argument("--hard", type=float, default=0.5, help="share of hard scenes, 0 to 1")
    parser.add_argument("--calibrate", action="store_true", help="calibrate each scene first")
    parser.add_argument("--keep", type=Path, help="where pictures of failures are kept")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    if options.tosses:
        print(
            toss(
                options.tosses,
                options.first,
                options.hard,
                options.keep,
                calibrate=options.calibrate,
            )
        )
    else:
        costs()


if __name__ == "__main__":
    main()
