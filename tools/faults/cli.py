"""The command `python -m nova_twotier.tools.faults`, or `make faults`."""

import argparse
import os
import pathlib
import random
import shutil
import signal
import sys
import time

from nova_twotier.conf import ConfigError
from nova_twotier.db.store import StoreError
from nova_twotier.tools.fakecloud import FakeCloud, FakeCloudError
from nova_twotier.tools.faults.outcome import Outcome
from nova_twotier.tools.faults.scenarios import SCENARIOS, Scenario
from nova_twotier.tools.faults.trial import Size, Trial
from nova_twotier.tools.replay.errors import ReplayError

PROG = "faults"
SEED = "TWOTIER_FAULTS_SEED"
#: Seconds of a run for each kill: the manager starts, and works for a while.
SPAN_OF_KILL = 8.0


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, _interrupt)
    seed = arguments.seed
    if seed is None:
        seed = int(os.environ.get(SEED) or random.SystemRandom().randrange(1_000_000))
    size = Size(arguments.jobs, arguments.kills, max(60.0, SPAN_OF_KILL * arguments.kills))
    say(f"seed {seed}; the same again: --seed {seed}, or {SEED}={seed}")
    failed = []
    try:
        for scenario in dict.fromkeys(arguments.scenarios or SCENARIOS.values()):
            if not _trial(scenario, size, seed, arguments):
                failed.append(scenario.name)
    except (FakeCloudError, ConfigError, StoreError) as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{PROG}: interrupted", file=sys.stderr)
        return 130
    if failed:
        again = f"--seed {seed} {' '.join(failed)}"
        print(f"{PROG}: failed: {', '.join(failed)}; again: {again}", file=sys.stderr)
    return 1 if failed else 0


def say(line: str) -> None:
    print(line, flush=True)


def _interrupt(_signum, _frame):
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    about = "\n".join(f"  {name:<10} {scenario.about}" for name, scenario in SCENARIOS.items())
    parser = argparse.ArgumentParser(
        prog=PROG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs jobs on a fake-driver cloud while everything goes wrong, and checks that "
        "no job is lost,\ndoubled or left half alive. Scenarios (default: all of them):\n" + about,
        epilog="Example: python -m nova_twotier.tools.faults --seed 7 kills nova\n"
        "Exit status: 0 when all held, 1 when not.",
    )
    parser.add_argument(
        "scenarios", nargs="*", type=_scenario, metavar="SCENARIO", help="which of them to run"
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help=f"of jobs and trouble (default: ${SEED}, or a new one, which is printed)",
    )
    for name, default, text in (
        ("jobs", 60, "jobs of a run"),
        ("kills", 40, "kills of scenario kills; the others have a quarter of them"),
        ("hosts", 12, "fake compute hosts"),
    ):
        parser.add_argument(
            f"--{name}", type=int, default=default, metavar="N", help=f"{text} (default: {default})"
        )
    parser.add_argument(
        "--dir",
        type=pathlib.Path,
        default=pathlib.Path(".faults"),
        metavar="DIR",
        help="directory for the files of the runs (default: %(default)s)",
    )
    parser.add_argument(
        "--database-url",
        metavar="URL",
        help="database server for the scenarios that restart it (default: MariaDB or PostgreSQL "
        "of this machine)",
    )
    return parser


def _scenario(name: str) -> Scenario:
    if name not in SCENARIOS:
        raise argparse.ArgumentTypeError(
            f"{name!r} is not a scenario; there are {', '.join(SCENARIOS)}"
        )
    return SCENARIOS[name]


def _trial(scenario: Scenario, size: Size, seed: int, arguments) -> bool:
    """A scenario on a cloud of its own; whether all held."""
    out = arguments.dir.absolute() / scenario.name
    shutil.rmtree(out, ignore_errors=True)
    began = time.monotonic()
    with FakeCloud(out / "cloud", hosts=arguments.hosts) as cloud:
        try:
            outcome = Trial(
                cloud.info(), scenario, size, seed, out / "run", arguments.database_url
            ).run()
        except ReplayError as error:
            say(f"✗ {scenario.name}: {error}")
            say(f"  logs: {out / 'run'}, {out / 'cloud' / 'logs'}")
            return False
    _report(outcome, out, time.monotonic() - began)
    return not outcome.problems


def _report(outcome: Outcome, out: pathlib.Path, seconds: float) -> None:
    totals = outcome.totals
    mark = "✗" if outcome.problems else "✓"
    say(
        f"{mark} {outcome.scenario}: {totals['finished']} of {totals['jobs']} jobs finished, "
        f"{totals['evictions']} evictions, {totals['restores']} restores, {totals['swaps']} swaps, "
        f"{totals['migrations']} migrations; {seconds:.0f} s"
    )
    say("  " + ", ".join(f"{kind} {count}" for kind, count in sorted(outcome.counts.items())))
    for problem in outcome.problems:
        say(f"  {problem}")
    if outcome.problems:
        say(f"  logs: {out / 'run'}, {out / 'cloud' / 'logs'}")
