"""The picture of a campaign: a line for each fault, a column for each thing it must show. SVG."""

from __future__ import annotations

from html import escape

from harness.campaign.tally import Row, Tally

_LINE, _LEFT, _CELL, _TOP = 20, 330, 92, 74
_GOOD, _PART, _BAD = "#2e7d32", "#f9a825", "#c62828"
_COLUMNS = ("detected", "verdict", "located", "no innocent")


def draw(tally: Tally) -> str:
    """Draw it; the words in it say what the colours do."""
    lines = [*tally.rows]
    hidden = tally.not_observable
    height = _TOP + _LINE * (len(lines) + len(hidden)) + 56
    width = _LEFT + _CELL * len(_COLUMNS) + 240
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        '<text x="12" y="26" font-size="17" font-weight="bold">Fault campaign</text>',
        f'<text x="12" y="46">{escape(_summary(tally))}</text>',
    ]
    for n, name in enumerate(_COLUMNS):
        parts.append(
            f'<text x="{_LEFT + n * _CELL + _CELL / 2 - 4}" y="{_TOP - 8}" '
            f'text-anchor="middle" font-weight="bold">{name}</text>'
        )
    for i, row in enumerate(lines):
        parts += _row(row, _TOP + i * _LINE)
    for i, each in enumerate(hidden, len(lines)):
        y = _TOP + i * _LINE + 14
        parts.append(f'<text x="12" y="{y}">{each.fault.number}  {escape(each.fault.what)}</text>')
        parts.append(f'<text x="{_LEFT}" y="{y}" fill="#555">not observable on these rigs</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _row(row: Row, y: int) -> list[str]:
    out = [f'<text x="12" y="{y + 14}">{row.fault}  {escape(row.what)}</text>']
    clean = row.trials if not row.innocents else 0
    for n, count in enumerate((row.detected, row.verdict_right, row.located, clean)):
        colour = _GOOD if count == row.trials else _PART if count else _BAD
        x = _LEFT + n * _CELL
        said = f"{count}/{row.trials}" if n < 3 else ("yes" if clean else "no")
        out.append(
            f'<rect x="{x}" y="{y + 1}" width="{_CELL - 8}" height="{_LINE - 3}" fill="{colour}"/>'
        )
        out.append(
            f'<text x="{x + _CELL / 2 - 4}" y="{y + 14}" text-anchor="middle" '
            f'fill="white">{said}</text>'
        )
    rig = f'<text x="{_LEFT + _CELL * 4}" y="{y + 14}" fill="#555">{escape(row.where)}</text>'
    return [*out, rig]


def _summary(tally: Tally) -> str:
    return (
        f"{len(tally.singles)} single faults: {tally.share('detected'):.1%} detected, "
        f"{tally.share('verdict_right'):.1%} right verdict, {tally.share('located'):.1%} located; "
        f"{len(tally.pairs)} pairs, {len(tally.bad_pairs)} bad; "
        f"{len(tally.healthy)} healthy runs, {len(tally.false_alarms)} false alarms"
    )
