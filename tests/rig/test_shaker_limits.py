"""A machine is held to the rig file's limits on its times, not to its driver's own."""

from __future__ import annotations

import pytest

from harness.rig.bench import open_bench
from harness.rig.rigfile import load_rig
from harness.rig.wired import ShakerStuckError
from tests.rig.peers import PtyPeer


class Adapter:
    """A shaker's adapter whose machine is as `state` says and never gets further."""

    def __init__(self, state: str) -> None:
        self.state = state

    def __call__(self, asked: bytes) -> bytes:
        sequence, words = asked[1:3].decode(), asked[4 : asked.index(b"*")].decode()
        said = {"STATE?": f"{self.state} 4", "ID?": "SHAKER 1.0", "START": ""}[words]
        text = f"#{sequence} OK {said}".rstrip().encode()
        return text + f"*{sum(text) % 256:02X}\n".encode()


@pytest.mark.parametrize(
    ("state", "phase", "found"), [("IDLE", "start", 0.2), ("RUN", "done", 0.5)]
)
def test_a_machine_is_waited_for_as_long_as_the_rig_file_says(
    rig_file, state: str, phase: str, found: float
) -> None:
    """Fails if the limits are read and the driver's own 2 s and 30 s are waited for."""
    with PtyPeer(Adapter(state)) as peer:
        text = f"""
            [table]
            shaker = "automated"
            cover = "none"
            [devices.machine]
            driver = "line-shaker"
            port = "{peer.path}"
            [roles]
            shaker = "machine"
            [limits]
            shaker_start_ms = 200
            shaker_done_ms = 500
            """
        with open_bench(load_rig(rig_file(text=text))) as bench:
            assert bench.shaker is not None
            with pytest.raises(ShakerStuckError, match=f"within {found:g} s") as caught:
                bench.shaker.activate("dealer")
    assert caught.value.phase == phase
