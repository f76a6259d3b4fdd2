"""The clause register: every numbered sentence of a source, and how a rig can test it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from harness.rules.strict_toml import Table

Testable = Literal["yes", "partial", "no", "n/a"]
"""`partial`: only with an operator's confirmation; `n/a`: a heading that says nothing itself."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a source.

    `tag` is what scenarios carry (without the `@`), `clause` the number as the source writes it,
    `says` a paraphrase, `how` the way a rig tests it, `why_not` the reason where it cannot (None
    where it can).
    """

    tag: str
    clause: str
    says: str
    kind: str
    testable: Testable
    how: str | None
    why_not: str | None


KINDS = (
    "announcement",
    "conduct",
    "dice",
    "entry",
    "equipment",
    "inspection",
    "irregularity",
    "lamp",
    "payout",
    "procedure-order",
    "shaker",
    "wager-outcome",
)
"""What a clause is about."""


def read_clauses(top: Table) -> tuple[tuple[Clause, ...], set[str]]:
    """Read the `clauses` list of a register; mistakes go to the table's problems.

    Gives the clauses, and the tags of all of them, of mistaken ones too.
    """
    clauses: list[Clause] = []
    seen: set[str] = set()
    for table in top.tables("clauses"):
        tag = table.text("tag")
        table.describe(tag)
        number = table.text("clause")
        says = table.text("says")
        kind = table.choice("kind", KINDS)
        testable: Testable | None = table.choice("testable", get_args(Testable))
        if testable is None:
            table.has("how")
            table.has("why_not")
        tried = testable in ("yes", "partial")
        how = table.text("how") if tried else None
        why_not = table.text("why_not") if testable in ("no", "n/a") else None
        table.close()
        if tag is not None:
            if tag in seen:
                table.refuse("tag", "each tag once", f"{tag!r} again", "rename or remove one")
            if any(c.isspace() or c == "@" for c in tag):
                table.refuse("tag", "a tag without spaces or @", repr(tag))
            seen.add(tag)
        if tag and number and says and kind and testable:
            clauses.append(Clause(tag, number, says, kind, testable, how, why_not))
    top.close()
    return tuple(clauses), seen
