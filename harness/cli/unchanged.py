"""A run goes on only with what it was begun with: one record tells of one bench and one book."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.bdd.features import feature_uri, features_of
from harness.cli.run_jobs import refuse
from harness.cli.run_manifest import manifest_of, rig_facts
from harness.dealing.calibrations import load_calibrations
from harness.evidence.canonical import sha256_hex
from harness.evidence.manifest import Manifest
from harness.evidence.resume import recorded_results
from harness.verdicts import ConfigurationError

if TYPE_CHECKING:
    from harness.cli.run_jobs import Order
    from harness.evidence.run_folder import RunFolder
    from harness.rig.sections import Rig

_JUDGING = ("sicbo-hil", "onnxruntime", "opencv-python-headless", "numpy")
"""Programs of which another version may read the same picture otherwise."""


class ChangedSinceError(ConfigurationError):
    """Something that a run was begun with is otherwise now."""

    def __init__(self, subject: str, expected: str, found: str) -> None:
        super().__init__(
            subject,
            expected=expected,
            found=found,
            remedy="put it back as it was, or begin a new run",
        )


def refuse_changed(folder: RunFolder, wanted: Order) -> None:
    """Compare what a run was begun with and what it would go on with.

    Of features those whose text the record holds: all that were planned. Raises
    ChangedSinceError, SeveralMistakesError with all changes if there are more than one.
    """
    _refuse(
        [*_of_manifest(folder.read_manifest(), manifest_of(wanted))], _of_features(folder, wanted)
    )


def refuse_changed_rig(then: Mapping[str, Any], rig: Rig) -> None:
    """Compare the rig, calibrations and program of a qualification's manifest with those of now.

    Raises as `refuse_changed` does.
    """
    now = Manifest(rigs=[rig_facts(rig.name, rig)], books=[], invocation={}).to_json()
    _refuse(
        _of_manifest(then, now | {"calibrations": {rig.name: load_calibrations(rig).to_json()}})
    )


def _refuse(*found: Iterable[ChangedSinceError]) -> None:
    mistakes = list(chain.from_iterable(found))
    refuse(mistakes)


def _of_manifest(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[ChangedSinceError]:
    for kind, name in (("rig", "name"), ("book", "book")):
        digests = {one[name]: one["sha256"] for one in now[f"{kind}s"]}
        for one in then[f"{kind}s"]:
            if digests.get(one[name]) != one["sha256"]:
                what = "rig file" if kind == "rig" else "rule book"
                yield ChangedSinceError(
                    f"{what} {one[name]}", "the one that the run was begun with", "another"
                )
    for rig, cameras in now["calibrations"].items():
        before = (then.get("calibrations") or {}).get(rig, {})
        for camera in sorted(before.keys() | cameras.keys()):
            was, is_ = (told.get(camera, {}).get("sha256") for told in (before, cameras))
            if was != is_:
                yield ChangedSinceError(
                    f"calibration of {camera} on {rig}",
                    "the one that the run was begun with" if was else "none, as at its beginning",
                    "another" if is_ else "none",
                )
    for program in _JUDGING:
        version, found = (told["versions"].get(program) for told in (then, now))
        if version != found:
            yield ChangedSinceError(program, f"version {version}", f"version {found}")


def _of_features(folder: RunFolder, wanted: Order) -> Iterator[ChangedSinceError]:
    recorded = recorded_results(folder.journal).features
    now = {
        feature_uri(file, folder): _text_sha256(file)
        for folder in {features_of(sitting.book) for sitting in wanted.sittings}
        for file in folder.glob("**/*.feature")
    }
    for uri, digest in recorded.items():
        if now.get(uri) != digest:
            yield ChangedSinceError(
                uri, "the text that the run was begun with", "another" if uri in now else "none"
            )


def _text_sha256(file: Path) -> str:
    # As `RunRecord.feature` does: of the text, whatever ends its lines.
    return sha256_hex(file.read_text(encoding="utf-8", errors="replace").encode("utf-8"))
