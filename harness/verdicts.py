"""What a test can say, and how an error is said.

A verdict names who is answerable: the table (`DUT_FAIL`), a person (`PROCEDURE_FAIL`), our own
bench (`RIG_FAULT`) or nobody yet (`AMBIGUOUS`, `NO_RESULT`, `PENDING`). Only `PASS` counts as
passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """Outcome of one check; the value is the word written to every record."""

    PASS = "PASS"
    DUT_FAIL = "DUT_FAIL"
    PROCEDURE_FAIL = "PROCEDURE_FAIL"
    RIG_FAULT = "RIG_FAULT"
    AMBIGUOUS = "AMBIGUOUS"
    NO_RESULT = "NO_RESULT"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    PENDING = "PENDING"


_WORST_FIRST = (
    Verdict.DUT_FAIL,
    Verdict.PROCEDURE_FAIL,
    Verdict.RIG_FAULT,
    Verdict.AMBIGUOUS,
    Verdict.NO_RESULT,
    Verdict.PASS,
    Verdict.PENDING,
    Verdict.NOT_APPLICABLE,
)

CHECKS_WORST_FIRST = (*(v for v in _WORST_FIRST if v is not Verdict.PASS), Verdict.PASS)
"""The order within one scenario: it passes only if every check in it passed."""


def overall(verdicts: Iterable[Verdict]) -> Verdict:
    """Give the one verdict of a whole run; `NOT_APPLICABLE` if there was none at all."""
    seen = set(verdicts)
    return next((v for v in _WORST_FIRST if v in seen), Verdict.NOT_APPLICABLE)


def exit_status(verdicts: Iterable[Verdict]) -> int:
    """Give the process exit status of a run: 0 good, 1 table or person failed, 3 inconclusive."""
    worst = overall(verdicts)
    if worst in (Verdict.DUT_FAIL, Verdict.PROCEDURE_FAIL):
        return 1
    return 0 if worst is Verdict.PASS else 3


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured value against its limits.

    `value` is `None` until measured: an unset measurement is `PENDING`, never passed.
    `uncertainty` is the expanded uncertainty (k = 2) in `unit`. The decision rule is guarded
    acceptance (ISO/IEC Guide 98-4): PASS only if value +/- uncertainty lies wholly inside the
    limits, DUT_FAIL only if wholly outside one of them, AMBIGUOUS between.
    """

    name: str
    unit: str
    low: float | None = None
    high: float | None = None
    value: float | None = None
    uncertainty: float = 0.0

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ConfigurationError(
                self.name,
                expected="a lower limit below the upper limit",
                found=f"{self.low} > {self.high} {self.unit}",
                remedy="exchange or correct the limits",
            )

    @property
    def verdict(self) -> Verdict:
        """Judge the value by guarded acceptance; `PENDING` while it is unset."""
        if self.value is None:
            return Verdict.PENDING
        least, most = self.value - self.uncertainty, self.value + self.uncertainty
        if (self.low is not None and most < self.low) or (
            self.high is not None and least > self.high
        ):
            return Verdict.DUT_FAIL
        if (self.low is not None and least < self.low) or (
            self.high is not None and most > self.high
        ):
            return Verdict.AMBIGUOUS
        return Verdict.PASS


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause, located.

    `part` names what is answerable (`lamp:total-9`, `key:1`, `device:lamps`, `dealer`, ...); more
    than one name is a candidate set. `fault` is a word of diagnosis (`dead`, `swapped`,
    `no-reply`), `what` the sentence a person reads. `clauses` are the breached clauses' tags,
    `depends_on` the readings without which the finding would not stand, `evidence` references
    into the record (`journal:LINE`, `frames/NAME`), `results` the results concerned as written
    (`1,1,2`), `next_test` what would split a candidate set. Several parts with a `DUT_FAIL` are all
    at fault together (two lamps exchanged); with `AMBIGUOUS` one of them is.
    """

    verdict: Verdict
    part: tuple[str, ...]
    fault: str
    what: str
    clauses: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    next_test: str | None = None

    def to_json(self) -> dict[str, object]:
        """Give the finding as it is written to `summary.json`."""
        return {
            "verdict": self.verdict.value,
            "part": self.part[0] if len(self.part) == 1 else list(self.part),
            "fault": self.fault,
            "what": self.what,
            "clauses": list(self.clauses),
            "depends_on": list(self.depends_on),
            "evidence": list(self.evidence),
            "results": list(self.results),
            "next_test": self.next_test,
        }


class HarnessError(Exception):
    """Base of every error the harness raises on purpose.

    subject: the device or file; expected, found: what; remedy: what to do next. `received` holds
    what had arrived when a time-out struck. `exit_status` is what a command ends with.
    """

    exit_status = 3
    verdict = Verdict.RIG_FAULT

    def __init__(
        self,
        subject: str,
        *,
        expected: str,
        found: str,
        remedy: str,
        received: bytes | None = None,
    ) -> None:
        self.subject = subject
        self.expected = expected
        self.found = found
        self.remedy = remedy
        self.received = received
        super().__init__(f"{subject}: expected {expected}, found {found}; {remedy}")

    def to_json(self) -> dict[str, object]:
        """Give the error as it is written to the journal."""
        return {
            "error": type(self).__name__,
            "subject": self.subject,
            "expected": self.expected,
            "found": self.found,
            "remedy": self.remedy,
            "received": None if self.received is None else self.received.hex(" "),
        }


class ConfigurationError(HarnessError):
    """A file, an option or a value given by the user is wrong: exit status 2."""

    exit_status = 2


def as_toml(value: object) -> str:
    """Write a value as a TOML file writes it, whatever its type is here."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {as_toml(each)}" for key, each in value.items()) + "}"
    return repr(value) if isinstance(value, str) else str(value)


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a file: where (key path or line), what was expected, what was found."""

    where: str
    expected: str
    found: str
    remedy: str = "correct it"

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected}, found {self.found}; {self.remedy}"


class InvalidFileError(ConfigurationError):
    """A file with one or more mistakes, refused whole; all mistakes are listed, a line each."""

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        super().__init__(
            file,
            expected=first.expected,
            found=f"{len(self.problems)} mistake(s), first at {first.where}: {first.found}",
            remedy=first.remedy,
        )

    def __str__(self) -> str:
        return "\n".join(f"{self.subject}: {problem}" for problem in self.problems)
