"""Makes the mutants of a project with mutmut and writes a sample of them, each as its whole file.

usage: cd PROJECT && python mutants.py OUT MUTANTS SEED JOBS     (a project set up for mutmut)
"""

from __future__ import annotations

import json
import random
import sys
from functools import cache
from pathlib import Path

import libcst
import mutmut.__main__ as mutmut
from mutmut.mutation.diff_apply import read_mutant_function, read_mutants_module
from mutmut.utils.format_utils import orig_function_and_class_names_from_key

mutated = cache(read_mutants_module)


@cache
def original(path: Path) -> libcst.Module:
    return libcst.parse_module(path.read_text(encoding="utf-8"))


def main(out: Path, sample: int, seed: int, jobs: int) -> None:
    mutmut.create_mutants(jobs)
    every = {
        name: meta.relative_to("mutants").with_suffix("")
        for meta in sorted(Path("mutants").rglob("*.meta"))
        for name in json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
    }
    names = sorted(random.Random(seed).sample(sorted(every), min(sample, len(every))))
    made = [
        {"name": name, "path": str(every[name]), "text": changed(name, every[name])}
        for name in names
    ]
    out.write_text(json.dumps({"every": len(every), "made": made}), encoding="utf-8")


def changed(name: str, path: Path) -> str:
    """Give a file's text with the mutant in it."""
    function, of_class = orig_function_and_class_names_from_key(name)
    function = function.rpartition(".")[-1]
    module = original(path)
    body = module.body
    if of_class:
        owner = next(
            each
            for each in body
            if isinstance(each, libcst.ClassDef) and each.name.value == of_class
        )
        body = owner.body.body
    sound = next(
        each
        for each in body
        if isinstance(each, libcst.FunctionDef) and each.name.value == function
    )
    mutant = read_mutant_function(mutated(path), name).with_changes(name=libcst.Name(function))
    return module.deep_replace(sound, mutant).code


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
