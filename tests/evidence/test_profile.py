"""A laboratory's profile: read whole or refused whole, every mistake at once."""

from __future__ import annotations

import pytest

from harness.evidence.profile import default_profile_path, load_profile
from harness.verdicts import ConfigurationError, InvalidFileError

WHOLE = """
[laboratory]
name = "Testing House"
address = "1 Bench Street"
place = "Hall 2"
[customer]
name = "A Casino"
[item]
description = "Sic bo table"
received = 2026-11-02
[method]
deviations = ["no cover"]
from_others = []
[authorised]
by = "A. Person"
"""


def test_a_profile_is_read_as_it_stands(tmp_path):
    (tmp_path / "lab.toml").write_text(WHOLE)
    profile = load_profile(tmp_path / "lab.toml")
    assert profile["laboratory"]["place"] == "Hall 2"
    assert profile["item"] == {"description": "Sic bo table", "received": "2026-11-02"}
    assert profile["method"] == {"deviations": ["no cover"], "from_others": []}


def test_every_mistake_is_told_at_once_with_its_place(tmp_path):
    (tmp_path / "lab.toml").write_text(
        'customer = "x"\n[laboratry]\n[laboratory]\nnme = "x"\naddress = 7\n'
        '[item]\nreceived = "soon"\n[method]\ndeviations = "none"\n'
    )
    with pytest.raises(InvalidFileError) as refused:
        load_profile(tmp_path / "lab.toml")
    told = str(refused.value)
    assert len(refused.value.problems) == 6
    for part in (
        "customer: expected a table",
        "did you mean laboratory?",
        "did you mean name?",
        "laboratory.address: expected a text",
        "item.received: expected a date",
        "method.deviations: expected a list of texts",
    ):
        assert part in told


@pytest.mark.parametrize("text", ["[", "\xff"])
def test_a_file_that_is_no_profile_is_told(tmp_path, text):
    (tmp_path / "lab.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigurationError, match="laboratory profile"):
        load_profile(tmp_path / "lab.toml")
    with pytest.raises(ConfigurationError):
        load_profile(tmp_path / "nothing.toml")


def test_the_user_s_own_profile_is_found_and_may_be_absent(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load_profile() == {}
    default_profile_path().parent.mkdir()
    default_profile_path().write_text(WHOLE)
    assert load_profile()["customer"] == {"name": "A Casino"}
