"""What a run is asked to do, checked as a whole before anything is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from harness.bdd.benches import capabilities_of, setup_of
from harness.bdd.capabilities import CLOSED_LOOP
from harness.bdd.features import features_of
from harness.bdd.inspection import Inspection, results_of
from harness.bdd.job import Job
from harness.evidence.records import AskedResults
from harness.observations import Mode
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.rig.sections import Rig
from harness.rules.books import RuleBook, list_books, load_book
from harness.verdicts import ConfigurationError, HarnessError


class SeveralMistakesError(ConfigurationError):
    """More than one thing asked for is wrong; each is told."""

    def __init__(self, mistakes: Sequence[HarnessError]) -> None:
        self.mistakes = tuple(mistakes)
        first = self.mistakes[0]
        super().__init__(
            first.subject, expected=first.expected, found=first.found, remedy=first.remedy
        )

    def __str__(self) -> str:
        return "\n".join(dict.fromkeys(str(mistake) for mistake in self.mistakes))


def refuse(mistakes: Sequence[HarnessError]) -> None:
    """Raise what is wrong: the one mistake, or SeveralMistakesError; return where there is none."""
    if mistakes:
        raise mistakes[0] if len(mistakes) == 1 else SeveralMistakesError(mistakes)


@dataclass(frozen=True, slots=True)
class Sitting:
    """One rule book to be tested on one rig."""

    book: RuleBook
    rig: Rig
    rig_name: str

    @property
    def allowed(self) -> bool:
        """Tell whether the book allows this rig's equipment."""
        return self.book.variant(setup_of(self.rig)) is not None

    @property
    def mode(self) -> Mode:
        """How results come about on this rig."""
        return "presented" if capabilities_of(self.rig) >= CLOSED_LOOP else "entered"


@dataclass(frozen=True, slots=True)
class Order:
    """A run's sittings and the options they share."""

    sittings: tuple[Sitting, ...]
    rules_paths: tuple[Path, ...]
    inspection: Inspection
    faults: tuple[str, ...]
    record_wire: bool = False

    def asked(self) -> dict[str, AskedResults]:
        """Give for each book how many results are to be checked, and in which mode."""
        return {
            sitting.book.id: {
                "checked": len(results_of(self.inspection, sitting.book)),
                "mode": sitting.mode,
            }
            for sitting in self.sittings
            if sitting.allowed
        }

    def jobs(self, out: Path, *, resumed: bool) -> list[Job]:
        """Give a worker's job for each sitting."""
        return [
            Job(
                book=sitting.book.id,
                rig=str(sitting.rig.path.resolve()),
                rig_name=sitting.rig_name,
                features=(str(features_of(sitting.book).resolve()),),
                out=str(out.resolve()),
                rules_path=tuple(str(path.resolve()) for path in self.rules_paths),
                inspection=self.inspection,
                faults=self.faults,
                resumed=resumed,
                emulated=sitting.rig.emulated,
                record_wire=self.record_wire,
            )
            for sitting in self.sittings
        ]

    def invocation(self) -> dict[str, object]:
        """Give what is needed to take the run up again."""
        return {
            "sittings": [
                {
                    "book": sitting.book.id,
                    "rig": str(sitting.rig.path.resolve()),
                    "rig_name": sitting.rig_name,
                }
                for sitting in self.sittings
            ],
            "rules_paths": [str(path.resolve()) for path in self.rules_paths],
            "inspection": self.inspection,
            "faults": list(self.faults),
            "record_wire": self.record_wire,
        }


def order(
    *,
    rigs: Sequence[str],
    books: Sequence[str],
    rules_paths: Sequence[str],
    inspection: str,
    faults: Sequence[str],
    record_wire: bool = False,
) -> Order:
    """Check everything that a run is asked to do; raises with every mistake at once.

    Without books: all of them. Without rigs: the usual emulated one of each book.
    """
    paths = tuple(Path(path) for path in rules_paths)
    mistakes: list[HarnessError] = []
    loaded = _load_books(books, paths, mistakes)
    sittings: list[Sitting] = []
    for book in loaded:
        for name in dict.fromkeys(rigs or (book.usual_rig,)):
            try:
                rig = load_rig(find_rig(name), book.areas)
            except ConfigurationError as error:
                mistakes.append(error)
                continue
            sittings.append(Sitting(book, rig, _rig_name(rig, rigs)))
            if faults and not rig.emulated:
                mistakes.append(_no_emulator(rig))
    if not loaded:
        mistakes += _rig_mistakes(rigs)
    refuse(mistakes)
    return Order(tuple(sittings), paths, cast("Inspection", inspection), tuple(faults), record_wire)


def resumed_order(manifest: Mapping[str, Any]) -> Order:
    """Give what a run that broke off was asked to do, from its manifest."""
    asked = manifest["invocation"]
    paths = tuple(Path(path) for path in asked["rules_paths"])
    sittings = []
    for each in asked["sittings"]:
        book = load_book(each["book"], paths)
        rig = load_rig(Path(each["rig"]), book.areas)
        sittings.append(Sitting(book, rig, each["rig_name"]))
    return Order(
        tuple(sittings),
        paths,
        asked["inspection"],
        tuple(asked["faults"]),
        asked.get("record_wire", False),
    )


def _load_books(
    ids: Sequence[str], paths: Sequence[Path], mistakes: list[HarnessError]
) -> list[RuleBook]:
    if not ids:
        try:
            return list_books(paths)
        except ConfigurationError as error:
            mistakes.append(error)
            return []
    loaded = []
    for book_id in dict.fromkeys(ids):
        try:
            loaded.append(load_book(book_id, paths))
        except ConfigurationError as error:
            mistakes.append(error)
    return loaded


def _rig_mistakes(names: Sequence[str]) -> list[HarnessError]:
    """Look at the rigs even where no book could be read: every mistake is told at once."""
    found: list[HarnessError] = []
    for name in names:
        try:
            load_rig(find_rig(name))
        except ConfigurationError as error:
            found.append(error)
    return found


def _rig_name(rig: Rig, given: Sequence[str]) -> str:
    """Give the rig's name in the record; its path where two files share a name."""
    stems = [Path(name).stem for name in dict.fromkeys(given)]
    return rig.name if stems.count(rig.name) < 2 else str(rig.path)


def _no_emulator(rig: Rig) -> ConfigurationError:
    return ConfigurationError(
        f"rig {rig.name}",
        expected="an emulated bench for --fault",
        found="a rig file without [emulator]",
        remedy="leave --fault out, or name an emulated rig",
    )
