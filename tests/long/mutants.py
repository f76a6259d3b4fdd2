"""Draws mutants of files, as mutmut makes them, and writes each as its whole file.

usage: cd PROJECT && python mutants.py OUT MUTANTS SEED FOLDER...

Every place that can be mutated is found; only what is drawn is written out.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import libcst
from mutmut.mutation.file_mutation import Mutation, create_mutations
from mutmut.mutation.trampoline_templates import mangle_function_name
from mutmut.utils.format_utils import get_mutant_name


@dataclass(frozen=True)
class Mutant:
    """One mutation of a file, not made yet."""

    path: Path
    sound: libcst.Module
    mutation: Mutation

    @property
    def text(self) -> str:
        """Give the file's text with the mutant in it."""
        return self.sound.deep_replace(self.mutation.original_node, self.mutation.mutated_node).code


def main(out: Path, sample: int, seed: int, folders: list[Path]) -> None:
    files = sorted(path for folder in folders for path in folder.rglob("*.py"))
    every = {name: mutant for path in files for name, mutant in mutants(path)}
    names = sorted(random.Random(seed).sample(sorted(every), min(sample, len(every))))
    made = [{"name": n, "path": str(every[n].path), "text": every[n].text} for n in names]
    out.write_text(json.dumps({"every": len(every), "made": made}), encoding="utf-8")


def mutants(path: Path) -> Iterator[tuple[str, Mutant]]:
    """Give the mutants of a file's functions and methods, each with mutmut's name for it."""
    module, mutations, _, _ = create_mutations(str(path), path.read_text(encoding="utf-8"))
    owners = {
        method: statement.name.value
        for statement in module.body
        if isinstance(statement, libcst.ClassDef)
        for method in statement.body.body
    }
    made: Counter[str] = Counter()
    for mutation in mutations:
        function = mutation.contained_by_top_level_function
        if not isinstance(function, libcst.FunctionDef):
            continue
        mangled = mangle_function_name(name=function.name.value, class_name=owners.get(function))
        made[mangled] += 1
        name = get_mutant_name(path, f"{mangled}__mutmut_{made[mangled]}")
        yield name, Mutant(path, module, mutation)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), [Path(f) for f in sys.argv[4:]])
