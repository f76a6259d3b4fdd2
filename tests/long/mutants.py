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
from mutmut.mutation.diff_apply import find_mutant, read_mutant_function, read_mutants_module
from mutmut.utils.format_utils import orig_function_and_class_names_from_key

read = cache(read_mutants_module)


def main(out: Path, sample: int, seed: int, jobs: int) -> None:
    mutmut.create_mutants(jobs)
    every = sorted(
        name
        for meta in Path("mutants").rglob("*.meta")
        for name in json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
    )
    names = sorted(random.Random(seed).sample(every, min(sample, len(every))))
    made = [
        dict(zip(("name", "path", "text"), (name, *changed(name)), strict=True)) for name in names
    ]
    out.write_text(json.dumps({"every": len(every), "made": made}), encoding="utf-8")


def changed(name: str) -> tuple[str, str]:
    """Give a mutant's file and that file's text with the mutant in it."""
    path = Path(find_mutant(name).path)
    function, of_class = orig_function_and_class_names_from_key(name)
    function = function.rpartition(".")[-1]
    module = libcst.parse_module(path.read_text(encoding="utf-8"))
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
    mutant = read_mutant_function(read(path), name).with_changes(name=libcst.Name(function))
    return str(path), module.deep_replace(sound, mutant).code


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
