"""A fault of the campaign: on which bench it can be seen, and what a true report says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from harness.campaign.links import Linked
from harness.rig.sections import Rig
from harness.verdicts import Verdict

Inspection = Literal["full", "cover", "minimum"]
Values = Mapping[str, str]
Drawing = Callable[[Random, Rig], dict[str, str]]
"""Draws a fault's parameters for one seed."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What a report must say of one armed fault on one rig.

    `verdicts`: the run's verdict is one of them. `parts`: any of these names may be given to what
    is broken; a finding that names another part blames an innocent. `all_of`: names that the
    locating finding must give together, besides (empty: one of `parts` will do).
    """

    verdicts: frozenset[Verdict]
    parts: frozenset[str]
    all_of: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault. `needs` are the roles and settings without which a bench cannot show it.

    `inspection` is the smallest that can show it, on a bench whose equipment the book allows.
    `paired`: may be drawn together with another. `befalls`: the devices of a bench, or the roles of
    devices, that it can befall one of; draws take them in turn, on each bench that has other kinds.
    """

    number: str
    what: str
    draw: Drawing
    truth: Callable[[Values, Rig], Truth]
    needs: Sequence[str] = ()
    inspection: Inspection = "cover"
    paired: bool = True
    befalls: Linked | None = None


@dataclass(frozen=True, slots=True)
class Armed:
    """A fault with its parameters, on a rig."""

    fault: Fault
    values: Values

    @property
    def text(self) -> str:
        """Write it as on the command line: `F10:lamp=total-9`."""
        if not self.values:
            return self.fault.number
        given = ",".join(f"{name}={value}" for name, value in self.values.items())
        return f"{self.fault.number}:{given}"
