"""Makes training pictures: `python -m harness.vision.training.make_pictures OUT FIRST LAST`.

Each picture is made from its own number, so ranges can be made in parallel and again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from harness.vision.training.scenes import draw_scene


def make(folder: Path, first: int, last: int) -> None:
    """Write pictures `first` to `last` - 1 as NUMBER.jpg and NUMBER.json."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(first, last):
        name = folder / f"{number:06d}"
        if name.with_suffix(".json").exists():
            continue
        jpeg, truth = draw_scene(number)
        name.with_suffix(".jpg").write_bytes(jpeg.tobytes())
        name.with_suffix(".json").write_text(json.dumps(truth))


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
