"""The operator's desk: a stand-in for the person who answers the harness's prompts.

Wire: TCP, JSON lines. `{"ask": TEXT, "clause": TAG}` is answered by `{"answer": "yes"}`, `"no"` or
`"cannot tell"`. A line that is no such prompt is answered by `{"error": WHY}`.
"""

from __future__ import annotations

import json

ANSWERS = ("yes", "no", "cannot tell")


class Desk:
    """Answers `yes` unless told otherwise for a clause; `absent` never answers at all."""

    def __init__(self) -> None:
        self.default = "yes"
        self.by_clause: dict[str, str] = {}
        self.absent = False
        self.asked: list[tuple[str, str]] = []

    def reply(self, line: bytes) -> bytes:
        """Give the reply to one line, empty for none."""
        try:
            prompt = json.loads(line)
        except ValueError:
            return b'{"error": "not a JSON line"}\n'
        text = prompt.get("ask", prompt.get("prompt")) if isinstance(prompt, dict) else None
        if not isinstance(text, str):
            return b'{"error": "expected an object with ask and clause"}\n'
        clause = str(prompt.get("clause") or "")
        self.asked.append((clause, text))
        del self.asked[:-1000]
        if self.absent:
            return b""
        answer = self.by_clause.get(clause, self.default)
        return json.dumps({"answer": answer}).encode() + b"\n"
