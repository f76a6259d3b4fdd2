"""A qualification goes on only on the rig that it was begun on."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.campaign.qualify import Settings
from harness.campaign.qualify_record import INSPECTION, QualificationRecord
from harness.cli.run_manifest import rig_facts
from harness.cli.shaker_qualify import qualify
from harness.cli.unchanged import ChangedSinceError
from harness.evidence.manifest import Manifest
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig


@pytest.fixture
def rig(tmp_path: Path) -> Path:
    top = find_rig("emulated").resolve()
    shutil.copytree(top.parent / "common", tmp_path / "common")
    shutil.copytree(top.parent / "paytables", tmp_path / "paytables")
    return Path(shutil.copy(top, tmp_path / "bench.toml"))


def test_tosses_of_another_rig_are_not_added(rig, tmp_path):
    """Fails if one decision may rest on tosses before and after the rig file was changed."""
    loaded = load_rig(rig)
    manifest = Manifest(
        rigs=[rig_facts(loaded.name, loaded)],
        books=[],
        invocation={"rig": str(rig), "settings": asdict(Settings()), "faults": []},
        inspection=INSPECTION,
    )
    folder = tmp_path / "run"
    QualificationRecord.create(folder, manifest.to_json()).close()
    before = (folder / "journal.jsonl").read_bytes()
    rig.write_text(rig.read_text() + "\n# another lens\n")
    done = CliRunner().invoke(qualify, ["--resume", str(folder)], standalone_mode=False)
    assert isinstance(done.exception, ChangedSinceError)
    assert done.exception.exit_status == 2
    assert "rig file bench" in str(done.exception)
    assert (folder / "journal.jsonl").read_bytes() == before
