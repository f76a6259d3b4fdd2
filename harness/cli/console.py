"""Rich's console as this program uses it: text is shown as it is."""

from __future__ import annotations

from rich.console import Console


def console(*, stderr: bool = False) -> Console:
    """Give a console that marks no numbers and turns no `:word:` into a picture."""
    return Console(stderr=stderr, highlight=False, emoji=False)
