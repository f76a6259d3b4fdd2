"""The lamp memory of the emulated table: one line for each of the 56 sorted results.

Written as a maker's firmware keeps it, a table of outputs and no rules. Codes: `S` small, `B` big,
`T` one triple, `A` any triple, `D` a double, `t` a total, `p` a pair, `s` a single number.
"""

from __future__ import annotations

_ROM = {
    "111": "T1 A D1 s1",
    "112": "S D1 t4 p12 s1 s2",
    "113": "S D1 t5 p13 s1 s3",
    "114": "S D1 t6 p14 s1 s4",
    "115": "S D1 t7 p15 s1 s5",
    "116": "S D1 t8 p16 s1 s6",
    "122": "S D2 t5 p12 s1 s2",
    "123": "S t6 p12 p13 p23 s1 s2 s3",
    "124": "S t7 p12 p14 p24 s1 s2 s4",
    "125": "S t8 p12 p15 p25 s1 s2 s5",
    "126": "S t9 p12 p16 p26 s1 s2 s6",
    "133": "S D3 t7 p13 s1 s3",
    "134": "S t8 p13 p14 p34 s1 s3 s4",
    "135": "S t9 p13 p15 p35 s1 s3 s5",
    "136": "S t10 p13 p16 p36 s1 s3 s6",
    "144": "S D4 t9 p14 s1 s4",
    "145": "S t10 p14 p15 p45 s1 s4 s5",
    "146": "B t11 p14 p16 p46 s1 s4 s6",
    "155": "B D5 t11 p15 s1 s5",
    "156": "B t12 p15 p16 p56 s1 s5 s6",
    "166": "B D6 t13 p16 s1 s6",
    "222": "T2 A D2 t6 s2",
    "223": "S D2 t7 p23 s2 s3",
    "224": "S D2 t8 p24 s2 s4",
    "225": "S D2 t9 p25 s2 s5",
    "226": "S D2 t10 p26 s2 s6",
    "233": "S D3 t8 p23 s2 s3",
    "234": "S t9 p23 p24 p34 s2 s3 s4",
    "235": "S t10 p23 p25 p35 s2 s3 s5",
    "236": "B t11 p23 p26 p36 s2 s3 s6",
    "244": "S D4 t10 p24 s2 s4",
    "245": "B t11 p24 p25 p45 s2 s4 s5",
    "246": "B t12 p24 p26 p46 s2 s4 s6",
    "255": "B D5 t12 p25 s2 s5",
    "256": "B t13 p25 p26 p56 s2 s5 s6",
    "266": "B D6 t14 p26 s2 s6",
    "333": "T3 A D3 t9 s3",
    "334": "S D3 t10 p34 s3 s4",
    "335": "B D3 t11 p35 s3 s5",
    "336": "B D3 t12 p36 s3 s6",
    "344": "B D4 t11 p34 s3 s4",
    "345": "B t12 p34 p35 p45 s3 s4 s5",
    "346": "B t13 p34 p36 p46 s3 s4 s6",
    "355": "B D5 t13 p35 s3 s5",
    "356": "B t14 p35 p36 p56 s3 s5 s6",
    "366": "B D6 t15 p36 s3 s6",
    "444": "T4 A D4 t12 s4",
    "445": "B D4 t13 p45 s4 s5",
    "446": "B D4 t14 p46 s4 s6",
    "455": "B D5 t14 p45 s4 s5",
    "456": "B t15 p45 p46 p56 s4 s5 s6",
    "466": "B D6 t16 p46 s4 s6",
    "555": "T5 A D5 t15 s5",
    "556": "B D5 t16 p56 s5 s6",
    "566": "B D6 t17 p56 s5 s6",
    "666": "T6 A D6 s6",
}

_NAMES = {"S": "small", "B": "big", "A": "any-triple"}
_KINDS = {"T": "triple", "D": "double", "t": "total", "p": "pair", "s": "single"}


def _area(code: str) -> str:
    if code in _NAMES:
        return _NAMES[code]
    rest = code[1:]
    return f"{_KINDS[code[0]]}-{'-'.join(rest) if code[0] == 'p' else rest}"


LAMPS: dict[str, frozenset[str]] = {
    result: frozenset(_area(code) for code in codes.split()) for result, codes in _ROM.items()
}
"""Sorted result, for example `112`, to the areas that the firmware lights for it."""

AREAS = frozenset().union(*LAMPS.values())
"""Every area that the firmware can light."""
