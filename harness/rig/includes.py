"""A rig file with what it includes: merged under it, table by table."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.verdicts import ConfigurationError, InvalidFileError, Problem, as_toml


class Merged:
    """The file with its includes merged; knows which file set each key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files: list[Path] = []
        self.source: dict[tuple[str, ...], Path] = {}
        self.data = self._read(path, ())

    def _read(self, path: Path, chain: tuple[Path, ...]) -> dict[str, Any]:
        raw = _bytes(path, chain)
        self.files.append(path)
        try:
            data = tomllib.loads(raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            problem = Problem(f"line {line}", "UTF-8 text", f"byte {raw[error.start]:#04x}")
            raise InvalidFileError(str(path), [problem]) from None
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise InvalidFileError(str(path), [_syntax(error)]) from None
        include = data.pop("include", [])
        names = [include] if isinstance(include, str) else include
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            problem = Problem("include", "a list of file names", as_toml(include))
            raise InvalidFileError(str(path), [problem])
        merged: dict[str, Any] = {}
        for name in names:
            other = path.parent / name
            if other.resolve() in {known.resolve() for known in (*chain, path)}:
                problem = Problem("include", "files that do not include each other", name)
                raise InvalidFileError(str(path), [problem])
            _merge(merged, self._read(other, (*chain, path)))
        _merge(merged, data)
        self._mark(data, (), path)
        return merged

    def _mark(self, data: Mapping[str, Any], at: tuple[str, ...], path: Path) -> None:
        for key, value in data.items():
            self.source[(*at, key)] = path
            if isinstance(value, dict):
                self._mark(value, (*at, key), path)

    def file_of(self, where: tuple[str, ...]) -> Path:
        """Give the file that set a key, or its nearest table."""
        for size in range(len(where), 0, -1):
            if where[:size] in self.source:
                return self.source[where[:size]]
        return self.path


def _bytes(path: Path, chain: tuple[Path, ...]) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        found = (error.strerror or str(error)).lower()
        if chain:
            problem = Problem("include", f"a readable file {path}", found)
            raise InvalidFileError(str(chain[-1]), [problem]) from None
        raise ConfigurationError(
            str(path),
            expected="a rig file",
            found=found,
            remedy="give the path of a rig file, or the name of an embedded one",
        ) from None


def _syntax(error: Exception) -> Problem:
    match = re.search(r"^(.*?) \((?:at line (\d+), column (\d+)|at end of document)\)", str(error))
    if match is None:
        return Problem("file", "TOML", str(error) or "too deep a nesting")
    where = f"line {match[2]}, column {match[3]}" if match[2] else "end of file"
    return Problem(where, "TOML", match[1].lower())


def _merge(under: dict[str, Any], over: Mapping[str, Any]) -> None:
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(under.get(key), dict):
            _merge(under[key], value)
        else:
            under[key] = value
