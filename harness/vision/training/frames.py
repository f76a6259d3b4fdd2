"""A face's frame as numbers that a network can give: free of which corner comes first.

A parallelogram with half edges u and v (complex numbers, pixels) is left the same by turning it by
a quarter or exchanging u and v. So are p = u^2 + v^2 and q = u^2 v^2, from which it is found again
(`harness.vision.finder` does that).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def describe(corners: Any) -> tuple[complex, float, Any]:
    """Give centre, half edge in px and [cos, sin of arg q, p / half edge squared (2)]."""
    c = np.asarray(corners, float) @ np.array([1, 1j])
    u = (c[1] - c[0] + c[2] - c[3]) / 4
    v = (c[3] - c[0] + c[2] - c[1]) / 4
    q = u * u * v * v
    size = abs(q) ** 0.25
    p = (u * u + v * v) / (size * size)
    return (
        complex(c.mean()),
        float(size),
        np.array([(q / abs(q)).real, (q / abs(q)).imag, p.real, p.imag]),
    )
