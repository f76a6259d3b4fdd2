"""Fails when a refusal is given another reason, or values where one is due."""

from dataclasses import replace

import pytest

from harness.vision.decision import Die, decide
from harness.vision.faces import Frame
from harness.vision.finder import STATES as FAR
from harness.vision.finder import Found
from harness.vision.judge import STATES as NEAR
from harness.vision.judge import Judged
from harness.vision.pips import PipReading


def sharp(names: tuple[str, ...], name: str, chance: float) -> tuple[float, ...]:
    rest = (1 - chance) / (len(names) - 1)
    return tuple(chance if n == name else rest for n in names)


def die(
    value: int = 3, *, pips: int | str | None = "same", far: int | None = None, state: str = "flat",
    sure: float = 0.999, score: float = 0.9, lean: float = 0.0, at: float = 0.0,
    edge: float = 60.0,
    maybe: frozenset[int] = frozenset(), why: str = "pattern", stray: bool = False,
):  # fmt: skip
    frame = Frame(complex(100 + at, 100), complex(edge / 2, 0), complex(0, edge / 2))
    faces = tuple(str(n) for n in range(1, 7))
    read = value if pips == "same" else pips
    return Die(
        Found(frame, score, 0j, sharp(FAR, state if state in FAR else "flat", 0.95),
              sharp(faces, str(far or value), 0.95)),
        Judged(sharp(faces, str(value), sure), sharp(NEAR, state, 0.95), frame, 0j),
        PipReading(
            read, None if read else why, 90.0, 0.01, (), maybe or frozenset({read} - {None})
        ),
        lean, stray,
    )  # fmt: skip


def three(*others: Die) -> tuple[Die, ...]:
    return (*others, *(die(2, at=100 * n) for n in range(1, 4 - len(others))))


def test_three_flat_dice_are_values_sorted():
    decision = decide((die(5), die(1, at=100), die(3, at=200)), (), 3)
    assert (decision.values, decision.reason) == ((1, 3, 5), None)
    assert 0.8 < decision.confidence <= 1


def test_a_lean_that_may_be_of_either_of_two_dice_refuses():
    """Fails when each die is asked alone: upright edges often do not tell which of two leans."""
    assert decide(three(die(lean=0.07)), (), 3).reason is None
    assert decide(three(die(lean=0.07), die(lean=0.07, at=300)), (), 3).reason == "leaning"


@pytest.mark.parametrize(
    ("apart", "reason"), [(61, None), (57, None), (45, "stacked"), (0, "stacked")]
)
def test_faces_that_overlap_are_not_on_one_floor(apart, reason):
    """Dice of 60 px an edge; fails when a die half under another is given a value."""
    assert decide((die(5), die(2, at=apart), die(4, at=200)), (), 3).reason == reason


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (die(state="leaning"), "leaning"),
        (die(lean=0.3), "leaning"),
        (die(state="moving"), "moving"),
        (die(state="stacked"), "stacked"),
        (die(state="obstructed", pips=None), "obstructed"),
        (die(pips=None, why="blank"), "obstructed"),
        (die(pips=4), "disagreement"),
        (die(pips=None, far=4), "disagreement"),
        (die(pips=None, maybe=frozenset({4})), "disagreement"),
        (die(pips=None, why="glare"), "glare"),
        (die(sure=0.6), "disagreement"),
        (die(1, stray=True, score=0.5), "disagreement"),
    ],
)
def test_one_die_amiss_refuses_all_with_its_reason(odd, reason):
    decision = decide(three(odd), (), 3)
    assert (decision.values, decision.reason) == ((), reason)


def test_a_die_hardly_found_whose_pips_light_hides_is_one_too_many():
    """Fails when four dice are read as three because light hides the fourth's pips."""
    hidden = die(2, pips=None, score=0.46, at=400, sure=0.99)
    assert decide((*three(), hidden), (), 3).reason == "extra"


def test_a_ring_in_a_mirror_image_is_no_die_too_many():
    """Fails when spots that read as a one make a die of what shows no face to the networks."""
    ring = die(1, state="obstructed", score=0.55, at=400)
    assert decide((*three(), ring), (), 3).reason is None
    assert decide((*three(), die(1, score=0.55, at=400)), (), 3).reason == "extra"


@pytest.mark.parametrize(
    ("score", "edge", "reason"),
    [(0.55, 60, "extra"), (0.55, 64, "extra"), (0.4, 60, None), (0.55, 75, None), (0.55, 48, None)],
)
def test_a_die_that_light_has_washed_out_is_one_too_many(score, edge, reason):
    """Fails when four dice, one burnt out by a sheet of light, are read as three.

    What is hardly found or of another size is a lamp's image.
    """
    burnt = die(1, pips=None, state="obstructed", score=score, at=400, edge=edge)
    assert decide((*three(), burnt), (), 3).reason == reason


def test_what_is_hardly_found_and_far_larger_than_the_dice_is_none():
    """As a lamp in a window's mirror image: a one, were it not of twice their size."""
    mirrored = die(1, score=0.3, at=400, edge=120)
    assert decide((*three(), mirrored), (), 3).reason is None
    assert decide((*three(), die(1, score=0.3, at=400)), (), 3).reason == "extra"


def test_what_light_leaves_of_the_pips_needs_a_judge_nearly_sure_or_the_finder_too():
    def lit(sure: float, far: int) -> Die:
        seen = die(3, pips=None, sure=sure, far=far)
        return replace(seen, pips=replace(seen.pips, only=3))

    assert decide(three(lit(0.93, 3)), (), 3).reason is None
    assert decide(three(lit(0.999, 4)), (), 3).reason == "disagreement"
    assert decide(three(lit(0.85, 3)), (), 3).reason == "disagreement"


def test_the_finder_stands_in_for_spoilt_pips_only_if_they_allow_it_and_both_networks_are_sure():
    allowed = frozenset({3, 5})
    assert decide(three(die(pips=None, maybe=allowed)), (), 3).reason is None
    assert decide(three(die(pips=None, maybe=allowed, sure=0.9)), (), 3).reason == "disagreement"
    assert decide(three(die(pips=None, sure=0.99)), (), 3).reason == "disagreement"
    assert decide(three(die(pips=None, maybe=frozenset({5}))), (), 3).reason == "disagreement"


def test_no_network_stands_in_for_pips_that_white_light_may_hide():
    seen = die(2, pips=None, maybe=frozenset({2, 3}), why="white")
    assert decide(three(seen), (), 3).reason == "glare"


def test_what_is_of_another_size_is_no_die_of_the_set():
    """Fails when a spot of light that looks like a large one is read as a die."""
    assert decide(three(die(1, edge=95.0)), (), 3).reason == "disagreement"
    assert decide(three(die(1, edge=75.0)), (), 3).reason == "disagreement"
    assert decide(three(die(1, edge=64.0)), (), 3).reason is None


def test_a_die_missing_needs_another_look():
    assert not decide(three()[:2], (), 3).settled


@pytest.mark.parametrize(
    ("count", "reason"), [(2, "extra"), (4, "missing"), (None, None), (3, None)]
)
def test_another_number_than_there_must_be_is_refused(count, reason):
    assert decide(three(), (), count).reason == reason


def test_no_dice_are_missing_even_if_any_number_will_do():
    assert decide((), (), None).reason == "missing"
    assert decide((), (), 3).reason == "missing"


def test_a_chip_where_a_die_is_missing_hides_it():
    assert decide(three()[:2], ((50.0, 50.0),), 3).reason == "obstructed"
    assert decide(three(), ((50.0, 50.0),), 3).reason is None


def test_a_larger_die_where_one_is_missing_lies_on_it():
    assert decide((die(edge=60), die(edge=65, at=100)), (), 3).reason == "stacked"
    assert decide((die(edge=60), die(edge=61, at=100)), (), 3).reason == "missing"


def test_a_reflection_beside_three_dice_is_no_die():
    ghost = die(state="obstructed", pips=None, score=0.6, at=300, edge=48)
    assert decide((*three(), ghost), (), 3).reason is None
    assert decide((*three()[:2], ghost), (), 3).reason == "obstructed"


def test_what_is_hardly_found_counts_when_it_reads_as_a_die():
    faint = die(6, score=0.33, at=300)
    assert decide((*three(), faint), (), 3).reason == "extra"
    assert decide((*three()[:2], faint), (), 3).values == (2, 2, 6)


@pytest.mark.parametrize(("lean", "settled"), [(0.11, False), (0.15, True), (0.6, True)])
def test_a_lean_seen_well_needs_no_other_look(lean, settled):
    """Fails when a second look, unsure of an upright edge, makes a leaning die lie flat."""
    decision = decide(three(die(lean=lean)), (), 3)
    assert (decision.reason, decision.settled) == ("leaning", settled)
