"""How the entry terminal takes keys beyond the plain entry of three."""

from __future__ import annotations

from pytest_bdd import parsers, then, when

from harness.bdd.capabilities import needs
from harness.bdd.sitting import Sitting
from harness.observations import Dice, Entry
from harness.verdicts import Verdict

THREE = r"(?P<a>[1-6]), (?P<b>[1-6]) and (?P<c>[1-6])"


@when(parsers.re(rf"{THREE} are entered on the terminal and then a further (?P<further>[1-6])"))
@needs("keys", "lamps")
def further_key(sitting: Sitting, a: str, b: str, c: str, further: str) -> None:
    """Press four keys, then clear."""
    keys = (int(a), int(b), int(c), int(further))
    sitting.keep_entry(sitting.take_entry(keys, own_values=True), provoked=True)


@then("the further key did what the table's maker says")
def as_maker_says(sitting: Sitting) -> None:
    """Compare the lamps with the setting `fourth_key` of the rig file.

    Otherwise than required it must be twice: one press that failed looks like another rule.
    """
    entry = sitting.scenario.entries[-1].entry
    rule = sitting.bench.rig.table.fourth_key
    told = _handled(sitting, entry)
    again = told
    if told != rule:
        keys = [int(key) for key in entry.keyed]
        once_more = sitting.take_entry(keys, own_values=True)
        sitting.keep_entry(once_more, provoked=True)
        again = _handled(sitting, once_more)
    verdict, then = Verdict.PASS, ""
    if told != rule:
        verdict = Verdict.AMBIGUOUS if again == rule else Verdict.DUT_FAIL
        then = "; entered again it was as it is to be" if again == rule else ""
    sitting.scenario.check(
        verdict,
        f"a fourth key is to be {rule}; the lamps show it was "
        + {"else": "neither ignored nor taken", "last-three": "taken as the last of three"}.get(
            told, told
        )
        + then,
        part=("rule:fourth-key",),
        fault="fourth-key-taken" if told == "last-three" else "fourth-key",
        depends_on=("A22",),
        entry=entry.index,
    )


def _handled(sitting: Sitting, entry: Entry) -> str:
    """Tell how the fourth key of an entry was handled, or "else".

    The lamps show what they are by far the nearest to: a lamp that is wrong besides is another
    matter, and this entry takes part in finding it.
    """
    digits = [int(key) for key in entry.keyed]
    meant: dict[str, Dice | None] = {
        "ignored": (digits[0], digits[1], digits[2]),
        "last-three": (digits[1], digits[2], digits[3]),
        "error": None,
    }
    lit = entry.lit("lit") or frozenset()
    off = {name: len(lit ^ _areas(sitting, dice)) for name, dice in meant.items()}
    nearest, next_to_it = sorted(off, key=lambda name: off[name])[:2]
    return nearest if 2 * off[nearest] < off[next_to_it] else "else"


@when(parsers.re(r"(?P<a>[1-6]) is entered, and (?P<b>[1-6]) and (?P<c>[1-6]) only after 1 second"))
@needs("keys", "lamps")
def hesitant_entry(sitting: Sitting, a: str, b: str, c: str) -> None:
    """Enter with a pause that every terminal has to allow."""
    taken = sitting.take_entry((int(a), int(b), int(c)), own_values=True, pause_after_first_s=1.0)
    sitting.keep_entry(taken)


def _areas(sitting: Sitting, dice: Dice | None) -> frozenset[str]:
    return frozenset() if dice is None else sitting.book.winning_areas(dice, sitting.options)
