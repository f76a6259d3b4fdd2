"""Which look stands where the same dice were laid and refused several times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.dealing.look import Look


def standing(refused: Sequence[Look]) -> Look:
    """Give the last of the looks that were refused for the reason given most often.

    So one look in which a die that lies on another seems hidden blames no camera.
    """
    given = Counter(look.seen.reason for look in refused)
    most = max(given.values())
    return next(look for look in reversed(refused) if given[look.seen.reason] == most)
