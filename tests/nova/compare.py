"""Runs Nova's tests without and with our plugin at the same time, and demands the same result.

A test that fails without the plugin is broken by the environment and compared no further. One
that passes without and not with it is run again in both variants: only if it differs again is it
counted against us, because some of Nova's tests depend on timing. With --part, all run with the
plugin, and only those that fail then run without it.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from tests.cores import keep_to_one
from tests.nova import modules
from tests.nova.worker import FAILED, PASSED, SKIPPED

REPEATS = 2
#: Seconds that one test may take; Nova's base class interrupts it then.
TIMEOUT = 200
VARIANTS = {"without": [], "with": ["--plugin"]}


def run(names, workers, directory, only=None, variants=VARIANTS):
    """Outcomes and reasons by variant and test, missing names, and calls of our filters."""
    processes = []
    for variant, options in variants.items():
        for number in range(workers):
            output = directory / f"{variant}.{number}"
            command = [sys.executable, "-m", "tests.nova.worker", str(output), *options]
            command += ["--share", str(number), str(workers), *names]
            if only:
                command += ["--only", str(only)]
            # Some of Nova's messages go to the terminal; a crash would show there, too.
            with open(f"{output}.log", "w") as log:
                process = subprocess.Popen(
                    command,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "OS_TEST_TIMEOUT": str(TIMEOUT)},
                )
            keep_to_one(len(processes), process.pid)
            processes.append((variant, output, process))
    found, asked, missing = {variant: {} for variant in variants}, {}, set()
    for variant, output, process in processes:
        if process.wait():
            sys.exit(f"A run of Nova's tests ended early:\n{tail(f'{output}.log')}")
        for line in output.read_text().splitlines():
            entry = json.loads(line)
            if "test" in entry:
                found[variant][entry["test"]] = (entry["outcome"], entry["why"])
            missing.update(entry.get("missing", ()))
            for name, count in entry.get("asked", {}).items():
                asked[name] = asked.get(name, 0) + count
    return found, missing, asked


def tail(path):
    return "\n".join(pathlib.Path(path).read_text().splitlines()[-20:])


def different(found):
    """Tests that pass without the plugin and not with it."""
    outcome = {name: found["with"].get(name, ("missing", ""))[0] for name in found["without"]}
    return sorted(
        name
        for name, (without, _why) in found["without"].items()
        if without == PASSED and outcome[name] != PASSED
    )


def table(found):
    lines = [f"{'':20}{'ran':>7}{PASSED:>9}{SKIPPED:>9}{FAILED:>9}"]
    for variant, results in found.items():
        outcomes = [outcome for outcome, _why in results.values()]
        counts = [outcomes.count(each) for each in (PASSED, SKIPPED, FAILED)]
        lines.append(
            f"{variant + ' the plugin':20}{len(outcomes):>7}" + "".join(f"{n:>9}" for n in counts)
        )
    return "\n".join(lines)


def compare(names, workers, directory, part):
    """Print how both variants went; returns what is wrong, empty if nothing is."""
    begin = time.monotonic()
    if part:
        found, missing, asked = run(
            names, 2 * workers, directory, variants={"with": VARIANTS["with"]}
        )
        wrong = sorted(name for name, (outcome, _) in found["with"].items() if outcome == FAILED)
    else:
        found, missing, asked = run(names, workers, directory)
        wrong = different(found)
    print(table(found))
    print("asked with the plugin: " + ", ".join(f"{name} {n}" for name, n in asked.items()))
    if missing:
        print(f"not in this Nova: {', '.join(sorted(missing))}")
    without = found.get("without", {})
    broken = [name for name, (outcome, _why) in without.items() if outcome == FAILED]
    print("".join(f"broken without us: {name}\n" for name in sorted(broken)), end="")
    for _repeat in range(REPEATS):
        if wrong:
            print(f"differ, once more: {', '.join(wrong)}", flush=True)
            only = directory / "only"
            only.write_text("\n".join(wrong))
            again, _missing, _asked = run(names, 1, directory, only)
            wrong = different(again)
            found["with"].update(again["with"])
    print(f"took {time.monotonic() - begin:.0f} s")
    passed = any(outcome == PASSED for outcome, _why in found["with"].values())
    if not (passed and asked and all(asked.values())):
        return ["no test passed, or a filter of ours was never asked: nothing is proved"]
    return [f"{name} fails with the plugin:\n{found['with'][name][1]}" for name in wrong]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", action="store_true", help="only what make test runs")
    parser.add_argument(
        "--workers",
        type=int,
        default=max(1, (os.cpu_count() or 2) // 2),
        help="processes for each of the two variants",
    )
    parser.add_argument(
        "names", nargs="*", help=f"modules, classes or tests below {modules.ROOT} instead"
    )
    args = parser.parse_args()
    names = args.names or (modules.PART if args.part else modules.FULL)
    with tempfile.TemporaryDirectory() as directory:
        wrong = compare(names, args.workers, pathlib.Path(directory), args.part)
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
