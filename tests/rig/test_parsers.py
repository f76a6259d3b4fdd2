"""Parsers of what arrives on a wire: any bytes are data or a documented error, and nothing hangs.

10,000 random strings for each parser, half of them mutations of a sound reply.
"""

from __future__ import annotations

import random

import pytest

from tests.rig.fuzz import PARSERS, strings


@pytest.mark.parametrize("name", PARSERS)
def test_any_bytes_are_data_or_a_documented_error(name: str) -> None:
    parser = PARSERS[name]
    taken = 0
    for data in strings(parser, 10_000, random.Random(name)):
        taken += parser.survives(data)
    assert taken, "no string was taken: the parser's sound examples are not sound"


@pytest.mark.parametrize("name", [name for name in PARSERS if PARSERS[name].sealed])
def test_no_single_changed_byte_is_taken_where_a_checksum_guards(name: str) -> None:
    """Every byte of a sound reply changed in every way; fails if one passes as sound."""
    parser = PARSERS[name]
    for sound in parser.sound:
        for at in range(len(sound)):
            for value in range(256):
                if value != sound[at]:
                    changed = sound[:at] + bytes((value,)) + sound[at + 1 :]
                    assert not parser.survives(changed), changed
