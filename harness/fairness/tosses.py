"""Recorded tosses: a CSV file of three dice, read strictly and in bounded memory.

Format: first line `die1,die2,die3`, then a toss a line, each value 1 to 6. A file with any mistake
is refused whole, with the line numbers of what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.verdicts import ConfigurationError, InvalidFileError, Problem

HEADER = "die1,die2,die3"
Tosses = NDArray[np.uint8]
"""Shape (n, 3), values 1 to 6, one toss a row in time order."""

_CHUNK_BYTES = 3 << 20
_MOST_PROBLEMS = 20
_ROW_BYTES = 6  # "1,2,3\n"


def read_tosses(path: Path) -> Iterator[Tosses]:
    """Yield the tosses of a file in chunks, in order.

    Raises ConfigurationError if the file cannot be read, InvalidFileError (after the last chunk
    was looked at) if it has mistakes: nothing that was yielded may then be used.
    """
    reader = _Reader(path)
    yield from reader.chunks()


def joint_results(
    series: Sequence[NDArray[np.uint8]] | NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Number the 216 results 0 to 215: three dice's values 1 to 6 in, shape (3, n); (n,) out."""
    first, second, third = (values - np.uint8(1) for values in series)
    return np.asarray(first * np.uint8(36) + second * np.uint8(6) + third, np.uint8)


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = 1
        self.problems: list[Problem] = []
        self.more = 0
        self.rows = 0

    def chunks(self) -> Iterator[Tosses]:
        try:
            file = self.path.open("rb")
        except OSError as error:
            raise ConfigurationError(
                str(self.path),
                expected="a readable CSV file of tosses",
                found=error.strerror or str(error),
                remedy="name an existing file",
            ) from error
        with file:
            self._header(file.readline(200))
            rest = b""
            while block := file.read(_CHUNK_BYTES):
                end = block.rfind(b"\n") + 1
                if not end:
                    rest += block
                    if len(rest) > _CHUNK_BYTES:
                        self._note(f"line {self.line + 1}", "a line longer than a toss")
                        break
                    continue
                yield self._parse(rest + block[:end])
                rest = block[end:]
            if rest:
                yield self._parse(rest)
        if not self.rows and not self.problems:
            self._note("line 2", "no toss")
        if self.problems:
            if self.more:
                self._note("further lines", f"{self.more} more mistakes", always=True)
            raise InvalidFileError(str(self.path), self.problems)

    def _header(self, line: bytes) -> None:
        found = line.rstrip(b"\r\n").removeprefix(b"\xef\xbb\xbf")
        if found.replace(b" ", b"") != HEADER.encode():
            said = found[:40].decode("utf-8", "replace") or "nothing"
            self.problems.append(Problem("line 1", f"the header {HEADER}", repr(said)))

    def _parse(self, block: bytes) -> Tosses:
        data = np.frombuffer(block, np.uint8)
        if len(data) % _ROW_BYTES == 0:
            grid = data.reshape(-1, _ROW_BYTES)
            values = grid[:, 0:5:2] - np.uint8(ord("0"))
            if (
                (grid[:, 1] == ord(",")).all()
                and (grid[:, 3] == ord(",")).all()
                and (grid[:, 5] == ord("\n")).all()
                and ((values >= 1) & (values <= 6)).all()
            ):
                self.line += len(grid)
                self.rows += len(grid)
                return values
        return self._parse_slowly(block)

    def _parse_slowly(self, block: bytes) -> Tosses:
        rows: list[tuple[int, ...]] = []
        for text in block.splitlines():
            self.line += 1
            cells = [cell.strip() for cell in text.split(b",")]
            if len(cells) == 3 and all(cell in _FACES for cell in cells):
                rows.append(tuple(_FACES[cell] for cell in cells))
            else:
                said = text[:40].decode("utf-8", "replace")
                self._note(f"line {self.line}", repr(said) if said.strip() else "an empty line")
        self.rows += len(rows)
        return np.array(rows, np.uint8).reshape(-1, 3)

    def _note(self, where: str, found: str, *, always: bool = False) -> None:
        if len(self.problems) < _MOST_PROBLEMS or always:
            self.problems.append(Problem(where, "three values 1 to 6", found))
        else:
            self.more += 1


_FACES = {str(face).encode(): face for face in range(1, 7)}
