"""The command `python -m nova_twotier.tools.faults`, or `make faults`."""

import argparse
import contextlib
import os
import pathlib
import random
import shutil
import signal
import sys
import time

from nova_twotier.conf import ConfigError
from nova_twotier.db.store import StoreError
from nova_twotier.tools.fakecloud import FakeCloud, FakeCloudError, servers
from nova_twotier.tools.fakecloud.settings import DEFAULT_TRANSPORT_URL
from nova_twotier.tools.faults import databases, report, soak
from nova_twotier.tools.faults.gate import Gate
from nova_twotier.tools.faults.outcome import Outcome
from nova_twotier.tools.faults.plan import ON_A_SERVER
from nova_twotier.tools.faults.scenarios import SCENARIOS, SOAK, Scenario
from nova_twotier.tools.faults.trial import Size, Trial
from nova_twotier.tools.replay.errors import ReplayError, UsageError

PROG = "faults"
SEED = "TWOTIER_FAULTS_SEED"
#: Seconds of a run for each kill: the manager starts, and works for a while; and at least.
SPAN_OF_KILL, LEAST_SPAN = 8.0, 150.0
#: Where the RabbitMQ of `DEFAULT_TRANSPORT_URL` listens.
BROKER = "127.0.0.1", 5672


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        if arguments.table:
            print(report.table(report.read(arguments.table)), end="")
            return 0
        return _run(arguments)
    except (FakeCloudError, ConfigError, StoreError, UsageError) as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{PROG}: interrupted", file=sys.stderr)
        return 130


def _run(arguments) -> int:
    seed = arguments.seed
    if seed is None:
        seed = int(os.environ.get(SEED) or random.SystemRandom().randrange(1_000_000))
    say(f"seed {seed}; the same again: --seed {seed}, or {SEED}={seed}")
    outcomes = []
    try:
        for scenario in dict.fromkeys(arguments.scenarios or SCENARIOS.values()):
            outcomes.append(_trial(scenario, seed, arguments))
    finally:
        # The results so far, also those of an interrupted run.
        text = report.write(outcomes, arguments.dir)
    say(text)
    say(f"{arguments.dir / report.FILE}")
    if failed := [outcome.scenario for outcome in outcomes if outcome.problems]:
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
        ("soak-jobs", 10_000, "jobs of scenario soak"),
    ):
        parser.add_argument(
            f"--{name}", type=int, default=default, metavar="N", help=f"{text} (default: {default})"
        )
    parser.add_argument(
        "--span",
        type=float,
        metavar="SECONDS",
        help="time over which the jobs are submitted (default: 8 s a kill, at least 150)",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=1800.0,
        metavar="SECONDS",
        help="after which a run that is not over is given up (default: %(default)g)",
    )
    parser.add_argument(
        "--table",
        type=pathlib.Path,
        nargs="+",
        metavar="FILE",
        help="run nothing: print these reports as one table in Markdown",
    )
    parser.add_argument(
        "--dir",
        type=pathlib.Path,
        default=pathlib.Path(".faults"),
        metavar="DIR",
        help=f"directory for the files of the runs, and {report.FILE} (default: %(default)s)",
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


def _size(scenario: Scenario, arguments) -> Size:
    kills = scenario.kills_of(arguments.kills)
    span = arguments.span or max(LEAST_SPAN, SPAN_OF_KILL * kills)
    return Size(arguments.jobs, kills, span, timeout=arguments.timeout)


def _trial(scenario: Scenario, seed: int, arguments) -> Outcome:
    """Run a scenario on a cloud of its own."""
    out = arguments.dir.absolute() / scenario.name
    shutil.rmtree(out, ignore_errors=True)
    outcome = Outcome(scenario.name, scenario.about, seed)
    outcome.skipped = missing(scenario, arguments.database_url)
    if outcome.skipped:
        say(f"- {scenario.name}: skipped: {outcome.skipped}")
        return outcome
    began = time.monotonic()
    try:
        with contextlib.ExitStack() as stack:
            options, broker = {"hosts": arguments.hosts, **scenario.cloud}, None
            if scenario.cloud.get("full"):
                broker = stack.enter_context(Gate(*BROKER))
                options["transport_url"] = f"rabbit://guest:guest@127.0.0.1:{broker.port}/"
            cloud = stack.enter_context(FakeCloud(out / "cloud", **options))
            info, run = cloud.info(), out / "run"
            if scenario is SOAK:
                outcome = soak.run(info, run, seed, arguments.soak_jobs)
            else:
                server = arguments.database_url
                size = _size(scenario, arguments)
                outcome = Trial(info, scenario, size, seed, run, server, broker).run()
    except (ReplayError, FakeCloudError) as error:
        outcome.problems.append(str(error))
    outcome.seconds = time.monotonic() - began
    _report(outcome, out)
    return outcome


def missing(scenario: Scenario, database_url: str | None = None) -> str:
    """What this machine lacks for a scenario; empty if nothing.

    :param database_url: of the server that was named; if that one does not answer, the run fails.
    """
    if scenario.cloud.get("full"):
        try:
            servers.check_broker(DEFAULT_TRANSPORT_URL)
        except FakeCloudError as error:
            return str(error)
    if ON_A_SERVER & scenario.mishaps.keys() and not database_url:
        try:
            databases.answering(None)
        except ReplayError as error:
            return str(error)
    return ""


def _report(outcome: Outcome, out: pathlib.Path) -> None:
    mark = "✗" if outcome.problems else "✓"
    if outcome.figures:
        say(f"{mark} {outcome.scenario}: {outcome.seconds:.0f} s")
        for what, value in outcome.figures.items():
            say(f"  {what}: {value:g}")
    elif totals := outcome.totals:
        say(
            f"{mark} {outcome.scenario}: {totals['finished']} of {totals['jobs']} jobs finished, "
            f"{totals['evictions']} evictions, {totals['restores']} restores, "
            f"{totals['swaps']} swaps, {totals['migrations']} migrations; "
            f"{outcome.wasted:,.0f} process-seconds wasted, {outcome.destroyed:,.0f} destroyed; "
            f"longest wait beside idle slots {outcome.stall:.0f} s; {outcome.seconds:.0f} s"
        )
        say("  " + ", ".join(f"{kind} {count}" for kind, count in sorted(outcome.counts.items())))
        for kind, seconds in sorted(outcome.recovery.items()):
            say(f"  after {kind}: decides again after {', '.join(f'{s:.1f}' for s in seconds)} s")
    else:
        say(f"{mark} {outcome.scenario}")
    for problem in outcome.problems:
        say(f"  {problem}")
    if outcome.problems:
        say(f"  logs: {out / 'run'}, {out / 'cloud' / 'logs'}")
