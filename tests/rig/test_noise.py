"""Random faults on the line: nothing wrong is accepted, nothing hangs."""

from tests.rig.noise import run


def test_nothing_wrong_is_accepted() -> None:
    """A part of the 10,000 exchanges of the long checks."""
    ended = run(300)
    assert ended["answered"] > 150
    for fault in ("corrupt-reply", "short-reply", "wrong-unit", "wrong-function", "refused"):
        assert ended[fault] > 0, ended
