"""Equipment a rule book allows, and the people it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from harness.rules.strict_toml import Table
from harness.rules.timeline import CoverKind, Person, Setup, ShakerKind

PEOPLE: tuple[Person, ...] = get_args(Person)
"""Who can act on a timeline."""


@dataclass(frozen=True, slots=True)
class Role:
    """A person of the timeline, with the source's word for them and what falls to them.

    `includes` are people who count as this one too.
    """

    id: str
    called: str
    duty: str
    clause: str
    includes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variant:
    """One allowed combination of shaker and cover, with the emulated rig that has it."""

    setup: Setup
    rig: str
    clause: str
    note: str


def read_roles(top: Table) -> tuple[Role, ...]:
    """Read the `roles` list of a book; mistakes go to the table's problems."""
    roles: list[Role] = []
    for table in top.tables("roles"):
        id_ = table.choice("id", PEOPLE)
        table.describe(id_)
        called = table.text("called")
        duty = table.text("duty")
        clause = table.text("clause")
        includes = table.texts("includes") if table.has("includes") else ()
        table.close()
        for other in includes or ():
            if other not in PEOPLE:
                table.refuse("includes", "people: " + ", ".join(PEOPLE), repr(other))
        if id_ in [role.id for role in roles]:
            table.refuse("id", "each person once", f"{id_!r} again", "remove one")
        if id_ and called and duty and clause and includes is not None:
            roles.append(Role(id_, called, duty, clause, includes))
    return tuple(roles)


def read_variants(top: Table) -> tuple[Variant, ...]:
    """Read the `equipment` list of a book; mistakes go to the table's problems."""
    variants: list[Variant] = []
    for table in top.tables("equipment"):
        shaker: ShakerKind | None = table.choice("shaker", get_args(ShakerKind))
        cover: CoverKind | None = table.choice("cover", get_args(CoverKind))
        rig = table.text("rig")
        clause = table.text("clause")
        note = table.text("note")
        table.close()
        if shaker and cover:
            setup = Setup(shaker, cover)
            if setup in [variant.setup for variant in variants]:
                table.refuse("shaker", "each variant once", f"{shaker} with cover {cover} again")
            elif rig and clause and note:
                variants.append(Variant(setup, rig, clause, note))
    return tuple(variants)
