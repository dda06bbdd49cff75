"""Runs the tests of `core` on mutants of it, and prints how many each module's tests kill.

`make mutants MUTANTS='core/policies/preemption.py --sample 20'`; CONTRIBUTING.md explains it.
"""

import argparse
import pathlib
import random
import subprocess
import sys
from collections import Counter

from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.utils.format_utils import get_mutant_name

PACKAGE = pathlib.Path("nova_twotier")
MUTMUT = pathlib.Path(sys.executable).with_name("mutmut")
#: What became of a mutant that the tests noticed.
KILLED = {"killed", "timeout", "segfault"}


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    drawn = {path: sample(path, options.sample, options.seed) for path in modules(options.modules)}
    wanted = [name for names in drawn.values() for name in names]
    if not wanted:
        sys.exit("There is nothing to mutate.")
    run = [MUTMUT, "run", "--max-children", str(options.processes), *wanted]
    subprocess.run(run, check=True)
    found = results()
    report(drawn, found)
    for name in wanted:
        if found[name] not in KILLED:
            print(f"{found[name]}: {name}")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument(
        "modules",
        nargs="*",
        default=["core"],
        metavar="MODULE",
        help="a file or folder below nova_twotier/core, such as core/policies/preemption.py; "
        "default: all of core",
    )
    parser.add_argument("--sample", type=int, metavar="N", help="only N mutants of each file")
    parser.add_argument("--seed", type=int, default=1, help="which mutants are drawn; default: 1")
    parser.add_argument("--processes", type=int, default=2, help="default: 2")
    return parser.parse_args(arguments)


def modules(asked: list[str]) -> list[pathlib.Path]:
    """The files asked for, in that order; those of a folder by name."""
    found: list[pathlib.Path] = []
    for name in asked:
        path = PACKAGE / name
        if not path.exists():
            sys.exit(f"There is no {path}.")
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return found


def sample(path: pathlib.Path, number: int | None, seed: int) -> list[str]:
    """The names of all mutants of a file, or of as many as asked for, drawn by the seed."""
    made = mutate_file_contents(str(path), path.read_text()).mutant_names
    names = [get_mutant_name(path, name) for name in made]
    if number is None or number >= len(names):
        return names
    return random.Random(f"{seed} {path}").sample(names, number)


def results() -> dict[str, str]:
    """What became of each mutant, by its name."""
    listing = [MUTMUT, "results", "--all", "true"]
    lines = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
    return dict(line.strip().split(": ", 1) for line in lines.splitlines() if ": " in line)


def report(drawn: dict[pathlib.Path, list[str]], found: dict[str, str]) -> None:
    print(f"{'module':<50} {'mutants':>7} {'killed':>7} {'score':>6}")
    total: Counter[str] = Counter()
    for path, names in drawn.items():
        if names:
            killed = sum(found[name] in KILLED for name in names)
            total.update(mutants=len(names), killed=killed)
            row(str(path.relative_to(PACKAGE)), len(names), killed)
    row("all", total["mutants"], total["killed"])


def row(name: str, mutants: int, killed: int) -> None:
    print(f"{name:<50} {mutants:>7} {killed:>7} {killed / mutants:>6.0%}")


if __name__ == "__main__":
    main()
