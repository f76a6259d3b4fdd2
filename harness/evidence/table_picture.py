"""The table's layout as a picture: where each area is drawn, whatever areas a rule book has.

Areas without a number stand in the top row; the others follow in rows of their kind (`double-1`
is of the kind `double`). One set of areas is drawn once; a result adds only the areas that differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 400
_HEAD = 52
_ROW = 26
_GAP = 3
_KINDS = ("double", "triple", "total", "pair", "set", "four", "single")
_IN_A_ROW = {"total": 7, "pair": 8, "set": 8}
_PLAIN_FIRST, _PLAIN_LAST = ("small", "odd"), ("even", "big")


@dataclass(frozen=True, slots=True)
class Cell:
    """One area's rectangle, in units of a picture `WIDTH` wide."""

    area: str
    label: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class RowHead:
    """The name of a row and the height of its middle."""

    text: str
    y: float


@dataclass(frozen=True, slots=True)
class TablePicture:
    """A whole layout: `key` names it within a page."""

    key: str
    cells: tuple[Cell, ...]
    heads: tuple[RowHead, ...]
    height: float

    def name(self, area: str) -> str | None:
        """Give the name of an area's drawing within the page; None for an unknown area."""
        for number, cell in enumerate(self.cells):
            if cell.area == area:
                return f"{self.key}a{number}"
        return None


def draw_table(key: str, areas: Sequence[str]) -> TablePicture:
    """Lay the areas out; `key` begins every name of the drawing."""
    rows = _rows(areas)
    cells, heads = [], []
    for number, (head, row) in enumerate(rows):
        top = number * _ROW
        heads.append(RowHead(head, top + _ROW / 2))
        width = (WIDTH - _HEAD) / len(row)
        cells += [
            Cell(
                area,
                label_of(area),
                round(_HEAD + place * width, 1),
                top,
                round(width - _GAP, 1),
                _ROW - _GAP,
            )
            for place, area in enumerate(row)
        ]
    return TablePicture(key, tuple(cells), tuple(heads), len(rows) * _ROW)


def label_of(area: str) -> str:
    """Give what is written on an area: `9` for total-9, `1 1` for double-1, `1·2` for pair-1-2."""
    kind, numbers = _split(area)
    match kind:
        case "double":
            return " ".join(numbers * 2)
        case "triple" if numbers:
            return " ".join(numbers * 3)
        case _:
            return "·".join(numbers) if numbers else area.replace("-", " ")


def _rows(areas: Sequence[str]) -> list[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = {}
    for area in areas:
        kind, numbers = _split(area)
        groups.setdefault(kind if numbers else "", []).append(area)
    plain = groups.pop("", [])
    order = {name: rank for rank, name in enumerate(_PLAIN_FIRST)}
    order |= {name: 100 + rank for rank, name in enumerate(_PLAIN_LAST)}
    plain.sort(key=lambda area: order.get(area, 50))
    rows = _split_rows("", plain, 5)
    for kind in sorted(groups, key=lambda k: _KINDS.index(k) if k in _KINDS else len(_KINDS)):
        rows += _split_rows(kind, groups[kind], _IN_A_ROW.get(kind, 6))
    return rows


def _split_rows(kind: str, areas: list[str], most: int) -> list[tuple[str, list[str]]]:
    parts = [areas[at : at + most] for at in range(0, len(areas), most)]
    return [(kind if number == 0 else "", part) for number, part in enumerate(parts)]


def _split(area: str) -> tuple[str, list[str]]:
    words = area.split("-")
    numbers = [word for word in words if word.isdigit()]
    return "-".join(word for word in words if not word.isdigit()), numbers
