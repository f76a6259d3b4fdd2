"""How old a picture is when it is read: our MJPEG client, and cv2.VideoCapture, on one stream.

usage: python -m tests.benchmarks.camera_delay   (about 20 s; ratios of one run on one machine)

A server in a process of its own sends 30 pictures a second; each picture's grey level is the time
it was made, so that a picture read tells its own age.
"""

from __future__ import annotations

import multiprocessing
import socket
import statistics
import time
from multiprocessing.connection import Connection

import cv2
import numpy as np

from harness.rig.device import Surroundings
from harness.rig.drivers.camera import Camera, CameraSettings

FPS = 30
SLOW_FPS = 5
LEVELS = 200
STEP_S = 1 / FPS


def picture(count: int) -> bytes:
    """Make a picture whose level tells its number, modulo LEVELS."""
    image = np.full((360, 480, 3), 20 + count % LEVELS, np.uint8)
    return cv2.imencode(".jpg", image)[1].tobytes()


def serve(told: Connection) -> None:
    """Send pictures to each client; picture n is made n / FPS s after `began`."""
    listener = socket.create_server(("127.0.0.1", 0))
    began = time.monotonic()
    told.send((listener.getsockname()[1], began))
    pictures = [picture(n) for n in range(LEVELS)]
    while True:
        link, _ = listener.accept()
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.recv(4096)
        head = "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=cut\r\n\r\n"
        try:
            link.sendall(head.encode() + b"--cut\r\n")
            while True:
                number = int((time.monotonic() - began) * FPS) + 1
                time.sleep(max(0.0, began + number / FPS - time.monotonic()))
                data = pictures[number % LEVELS]
                part = f"Content-Type: image/jpeg\r\nContent-Length: {len(data)}\r\n\r\n".encode()
                link.sendall(part + data + b"\r\n--cut\r\n")
        except OSError:
            link.close()


def age_ms(image: np.ndarray, began: float) -> float:
    """Give how long ago a picture was made, in ms (up to LEVELS pictures back)."""
    number = round(float(image.mean())) - 20
    now = (time.monotonic() - began) * FPS
    return ((now - number) % LEVELS) / FPS * 1000


def told(name: str, ages: list[float]) -> None:
    """Print a line."""
    ages.sort()
    middle, worst = statistics.median(ages), ages[-1]
    print(f"{name:46} median {middle:7.0f} ms   worst {worst:7.0f} ms", flush=True)


def main() -> None:
    """Read the stream in four ways."""
    cv2.setNumThreads(1)
    mine, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    port, began = mine.recv()
    url = f"http://127.0.0.1:{port}/"

    settings = CameraSettings(driver="camera", source=url, latency_ms=0)
    camera = Camera.open("eye", settings, Surroundings())
    ages, waits = [], []
    for _ in range(5 * SLOW_FPS):
        at = time.monotonic()
        ages.append(age_ms(camera.newer_than(at, 2.0).image, began))
        waits.append((time.monotonic() - at) * 1000)
        time.sleep(1 / SLOW_FPS)
    camera.close()
    told("ours, read 5 times a second", ages)
    told("   of it, waiting for a picture made after", waits)

    for name, pause in (("as fast as it goes", 0.0), ("read 5 times a second", 1 / SLOW_FPS)):
        capture = cv2.VideoCapture(url, cv2.CAP_FFMPEG)
        ages = []
        end = time.monotonic() + 5
        while time.monotonic() < end:
            good, image = capture.read()
            if not good:
                break
            ages.append(age_ms(image, began))
            time.sleep(pause)
        capture.release()
        told(f"cv2.VideoCapture, {name}", ages[len(ages) // 2 :])
    process.kill()


if __name__ == "__main__":
    main()
