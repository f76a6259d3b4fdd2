"""Healthy rounds, typed from the sources for each kind of equipment, and a way to watch them."""

from dataclasses import dataclass
from functools import cache

from harness.rules.books import load_book
from harness.rules.monitor import Monitor
from harness.rules.timeline import Event, Setup
from tests.rules.definitions import COMMON, wins

Act = tuple[str, dict[str, object]]
book_of = cache(load_book)

NY, NJ, PA = "ny-5324.51", "nj-13.69f-9.5", "pa-625a.5"
CCA, TS = "cca-1992", "tai-sai"
DICE = (1, 2, 4)


def act(name: str, **data: object) -> Act:
    return (name, data)


def acts(*names: str) -> list[Act]:
    return [act(name) for name in names]


def lamps(*dice: int) -> Act:
    return act("lamps", lit=[area for area in COMMON if wins(area, dice)])


def keys(*values: object) -> list[Act]:
    return [act("key", value=value) for value in values]


WAGER = act("wager", area="small")
BY_DEALER = act("activate", by="dealer")
BY_PLAYER = act("activate", by="player")
SHAKES = acts("shake", "shake", "shake")


@dataclass(frozen=True)
class Dealing:
    """One book on one equipment: the acts of a round up to the dice at rest, and after them."""

    book: str
    setup: Setup
    head: list[Act]
    announces: bool = True
    clears: bool = True

    def tail(self, dice: tuple[int, int, int] = DICE) -> list[Act]:
        low_to_high = sorted(dice)
        return [
            *([act("announce", values=low_to_high, total=sum(dice))] if self.announces else []),
            *keys(*dice),
            lamps(*dice),
            *acts("collect-losers", "pay-winners"),
            *(acts("clear") if self.clears else []),
            act("round-end"),
        ]

    def round(self, dice: tuple[int, int, int] = DICE) -> list[Act]:
        return [*self.head, act("dice-at-rest", values=list(dice)), *self.tail(dice)]

    def watch(self, *rounds: list[Act]) -> tuple[list[str], str]:
        """Give the clauses breached, sorted, and the outcome."""
        monitor = watched(self, [act for one in rounds for act in one])
        return sorted(deviation.clause for deviation in monitor.deviations), monitor.outcome


def watched(dealing: Dealing, happened: list[Act], options: dict[str, object] | None = None):
    monitor = Monitor(book_of(dealing.book), dealing.setup, options)
    for at, (name, data) in enumerate(happened):
        monitor.feed(Event(float(at), name, data))
    monitor.finish()
    for deviation in monitor.deviations:  # each says what was wrong, in words
        assert deviation.what.strip(), deviation
    return monitor


def _start(*more: Act) -> list[Act]:
    return [act("round-start"), *more]


_CALL = act("no-more-bets")
_HAND = act("hand-motion")
_ON, _OFF = act("cover-on"), act("cover-off")

DEALINGS = {
    "ny manual": Dealing(
        NY, Setup("manual", "opaque"), _start(WAGER, _CALL, _HAND, _ON, *SHAKES, _OFF)
    ),
    "ny automated": Dealing(NY, Setup("automated", "none"), _start(WAGER, _CALL, _HAND, BY_DEALER)),
    "ny automated covered": Dealing(
        NY, Setup("automated", "opaque"), _start(WAGER, _CALL, _HAND, _ON, BY_DEALER, _OFF)
    ),
    "nj manual": Dealing(NJ, Setup("manual", "opaque"), _start(WAGER, _CALL, _ON, *SHAKES, _OFF)),
    "nj automated": Dealing(NJ, Setup("automated", "none"), _start(WAGER, _CALL, BY_DEALER)),
    "pa manual": Dealing(PA, Setup("manual", "opaque"), _start(_ON, *SHAKES, WAGER, _CALL, _OFF)),
    "pa automated covered": Dealing(
        PA, Setup("automated", "opaque"), _start(_ON, BY_DEALER, WAGER, _CALL, _OFF)
    ),
    "pa automated": Dealing(PA, Setup("automated", "none"), _start(WAGER, _CALL, BY_DEALER)),
    "pa player": Dealing(PA, Setup("player-activated", "none"), _start(WAGER, _CALL, BY_PLAYER)),
    "pa player covered": Dealing(
        PA, Setup("player-activated", "opaque"), _start(WAGER, _CALL, _ON, BY_PLAYER, _OFF)
    ),
    "cca": Dealing(
        CCA,
        Setup("tumbler", "opaque"),
        _start(_ON, BY_DEALER, *SHAKES, act("place-your-bets"), WAGER, _CALL, _OFF),
        clears=False,
    ),
    "ts": Dealing(
        TS,
        Setup("puncher", "none"),
        _start(act("countdown-start"), WAGER, act("countdown-end"), BY_DEALER),
        announces=False,
        clears=False,
    ),
}
