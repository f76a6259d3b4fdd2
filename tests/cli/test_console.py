"""What the program's console does to text: nothing."""

from __future__ import annotations

from harness.cli.console import console


def test_text_is_shown_as_it_is(capsys):
    """Fails if a name between colons is drawn as a picture, as in `F12:b: expected ...`."""
    console(stderr=True).print("F12:b: expected another area", markup=False)
    assert capsys.readouterr().err == "F12:b: expected another area\n"
