"""Whether lamps that have settled stay as they are while no key is pressed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from harness.observations import LampSample

STEADY_S = 0.6
"""How long lamps are watched in an entry that lights one for the first time.

It shows a lamp that goes out within half a second, and blinking of 2 Hz or more.
"""
FIRST_STEADY_S = 1.5
"""How long they are watched in the first entry.

It shows a supply that gives way after a second, and blinking of 1 Hz or more.
"""
_TWICE = 2


class Steadiness:
    """Compares looks at lamps with how they had settled; samples by path.

    `expected`: the areas that must be lit. `settled_by`: until then (monotonic s) they may change.
    """

    def __init__(
        self, settled: Mapping[str, LampSample], expected: frozenset[str], settled_by: float
    ) -> None:
        self._expected = expected
        self._settled_by = settled_by
        self._not_right = {
            path: (sample.lit ^ expected) | sample.unknown for path, sample in settled.items()
        }
        self._last = dict(settled)
        self._began = dict.fromkeys(settled, 0.0)
        self._changes: dict[str, Counter[str]] = {path: Counter() for path in settled}

    def saw(self, began: float, sample: LampSample) -> None:
        """Take in a look that began at a moment."""
        path, last = sample.path, self._last[sample.path]
        if self._began[path] > self._settled_by:
            self._changes[path].update((sample.lit ^ last.lit) - sample.unknown - last.unknown)
        self._last[path], self._began[path] = sample, began

    def unsteady(self) -> list[LampSample]:
        """Give the last samples of paths over which lamps did not stay as they were.

        What changed twice or more is in `flicker`, and what was right and ended wrong; not what
        came right late, nor what one path alone tells to have ended wrong: that they disagree shows
        in the samples.
        """
        wrong = {path: sample.lit ^ self._expected for path, sample in self._last.items()}
        by_all = frozenset[str].intersection(
            *(wrong[path] | sample.unknown for path, sample in self._last.items())
        )
        found = []
        for path, sample in self._last.items():
            turned = wrong[path] - sample.unknown - self._not_right[path]
            if self._began[path] <= self._settled_by:
                turned = frozenset()
            twice = {area for area, times in self._changes[path].items() if times >= _TWICE}
            if turned or twice:
                restless = sample.flicker | twice | (turned & by_all)
                # What changed from look to look is not to be told again from this one's pictures.
                found.append(replace(sample, flicker=restless, pictures=None))
        return found
