"""A small network, run on the processor in one thread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness.vision.faces import Floats, Picture

_SHARE = np.float32(1 / 255)


class Network:
    """A network as ONNX keeps it; its first output counts. One per thread."""

    def __init__(self, weights: Path) -> None:
        import onnxruntime  # heavy, and only what reads pictures needs it

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
        )
        self._input = self._session.get_inputs()[0].name

    def run(self, pictures: Sequence[Picture]) -> Floats:
        """Run on pictures (h, w, 3) of one size; gives the output (n, ...)."""
        planes = np.empty((len(pictures), 3, *pictures[0].shape[:2]), np.float32)
        for plane, picture in zip(planes, pictures, strict=True):
            np.multiply(picture.transpose(2, 0, 1), _SHARE, out=plane)
        return np.asarray(self._session.run(None, {self._input: planes})[0], np.float32)
