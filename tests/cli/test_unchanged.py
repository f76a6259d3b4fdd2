"""What a run would go on with is held against what it was begun with."""

from __future__ import annotations

import pytest

from harness.bdd.features import feature_uri
from harness.cli.run_jobs import order
from harness.cli.run_manifest import manifest_of
from harness.cli.unchanged import ChangedSinceError, refuse_changed
from harness.evidence.record import RunRecord


def test_a_feature_in_a_folder_within_is_compared_too(books, tmp_path):
    """Fails if such a feature, unchanged, hinders a run from going on; or one that is no text any
    more does not, or ends in an error of another kind."""
    within = books / "short" / "evening" / "further.feature"
    within.parent.mkdir()
    within.write_text("Feature: Further\r\n  Scenario: One\r\n    Given the table is clear\r\n")
    wanted = order(
        rigs=(),
        books=("short",),
        rules_paths=(str(books),),
        inspection="minimum",
        faults=(),
        record_wire=False,
    )
    uri = feature_uri(within, books / "short")
    assert uri == "features/short/evening/further.feature"
    with RunRecord.create(tmp_path / "run", manifest_of(wanted), wanted.asked()) as record:
        record.feature(uri, within.read_text(encoding="utf-8"))
        refuse_changed(record.folder, wanted)
        within.write_bytes(b"Feature: \xff\n")
        with pytest.raises(ChangedSinceError, match=uri):
            refuse_changed(record.folder, wanted)
