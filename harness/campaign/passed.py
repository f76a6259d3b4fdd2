"""The fault campaign that this version passed: kept with the package, named in every manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import harness

if TYPE_CHECKING:
    from harness.campaign.tally import Tally

FILE = Path(__file__).with_name("passed.json")
_JUDGING = ("bdd", "campaign", "dealing", "diagnosis", "evidence", "rig", "rules", "vision")


def judging_sources() -> str:
    """Give the SHA-256 over the sources that judge: their paths and contents, in path order."""
    package = Path(harness.__file__).parent
    digest = hashlib.sha256()
    for room in _JUDGING:
        for path in sorted((package / room).rglob("*")):
            if path.suffix in {".py", ".toml", ".onnx"}:
                digest.update(path.relative_to(package).as_posix().encode() + b"\0")
                digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def record_passed(figures: Tally, seeds: int) -> Path:
    """Keep a campaign's figures as those of this version."""
    told = figures.to_json()
    kept = {
        "version": version("sicbo-hil"),
        "date": datetime.now(UTC).date().isoformat(),
        "seeds": seeds,
        "passed": figures.good,
        **{name: told[name] for name in ("single", "pairs", "healthy")},
        "sources": judging_sources(),
    }
    FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return FILE


def passed_campaign() -> Mapping[str, Any] | None:
    """Give the campaign that this version passed; None without one.

    `same_sources` tells whether what judges is still, byte for byte, what was put to the test.
    """
    try:
        kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    except OSError:
        return None
    if not kept["passed"] or kept["version"] != version("sicbo-hil"):
        return None
    same = kept.pop("sources") == judging_sources()
    return {**kept, "same_sources": same}
