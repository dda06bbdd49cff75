"""The command `twotier-replay`."""

import argparse
import pathlib
import sys

from rich.console import Console

from nova_twotier import conf as configuration
from nova_twotier.conf import ConfigError
from nova_twotier.core.jobs import InvalidJob
from nova_twotier.db.store import StoreError
from nova_twotier.tools.replay import summary
from nova_twotier.tools.replay.arguments import positive, whole
from nova_twotier.tools.replay.errors import ReplayError, UsageError
from nova_twotier.tools.replay.run import EXCERPT, EXCERPT_LOAD, SPEEDUP, Settings, replay

PROG = "twotier-replay"


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        return arguments.run(arguments)
    except (UsageError, ConfigError, InvalidJob) as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 2
    except (ReplayError, StoreError) as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{PROG}: interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROG,
        allow_abbrev=False,
        description="Plays a trace against the live system, accelerated, and shows what Nova and "
        "Placement really did.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run",
        allow_abbrev=False,
        help="play a trace",
        description="Submits the jobs of a trace to the queue at their times, acts as their "
        "guests, and writes summary.json, gantt.png and gantt.html.",
        epilog="Example: twotier-replay run --config-file nova-twotier.conf --out replay. "
        "Exit status: 0 when every invariant held, 1 when not, 2 for bad input.",
    )
    run.add_argument(
        "trace",
        nargs="?",
        type=pathlib.Path,
        default=EXCERPT,
        metavar="TRACE",
        help="trace in the Standard Workload Format, .gz too "
        "(default: the excerpt of KTH-SP2 that comes with this)",
    )
    run.add_argument(
        "--config-file",
        action="append",
        required=True,
        metavar="FILE",
        help="configuration of the manager",
    )
    run.add_argument(
        "--jobs",
        type=whole(1),
        default=60,
        metavar="N",
        help="play the first N jobs (default: %(default)s)",
    )
    run.add_argument(
        "--speedup",
        type=positive,
        default=SPEEDUP,
        metavar="S",
        help="trace seconds that pass in a second (default: %(default)g)",
    )
    run.add_argument(
        "--load-scale",
        type=positive,
        metavar="F",
        help="submit F times as fast, with the same run times "
        f"(default: {EXCERPT_LOAD:g} for the excerpt, 1 for other traces)",
    )
    run.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of the processes' CPU utilisations (default: %(default)s)",
    )
    run.add_argument(
        "--qos",
        choices=["trace"],
        help="give each job the class of service of its queue, as lines such as "
        "'; Queue: 1 urgent' in the header of the trace say (default: all are normal)",
    )
    run.add_argument(
        "--out",
        type=pathlib.Path,
        default=pathlib.Path("replay"),
        metavar="DIR",
        help="directory for the results (default: %(default)s)",
    )
    run.add_argument(
        "--name",
        default="",
        metavar="NAME",
        help="what to call this replay in tables (default: the policy)",
    )
    run.add_argument(
        "--timeout",
        type=positive,
        default=1800.0,
        metavar="SECONDS",
        help="give up after this time (default: %(default)g)",
    )
    run.set_defaults(run=_run)
    compare = commands.add_parser(
        "compare",
        allow_abbrev=False,
        help="show replays side by side",
        epilog="Example: twotier-replay compare replay-amcbf replay-fcfs",
    )
    compare.add_argument(
        "directories",
        nargs="+",
        type=pathlib.Path,
        metavar="DIR",
        help="a directory that `run --out` wrote",
    )
    compare.set_defaults(run=_compare)
    return parser


def _run(arguments) -> int:
    files = [f"--config-file={name}" for name in arguments.config_file]
    conf = configuration.load(files, PROG)
    usual = EXCERPT_LOAD if arguments.trace == EXCERPT else 1.0
    settings = Settings(
        trace=arguments.trace,
        out=arguments.out,
        jobs=arguments.jobs,
        speedup=arguments.speedup,
        load_scale=arguments.load_scale or usual,
        seed=arguments.seed,
        timeout=arguments.timeout,
        name=arguments.name,
        classes=arguments.qos is not None,
    )
    console = Console()
    done = replay(conf, settings, console)
    console.print(summary.table([done]))
    for line in summary.verdicts(done):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if done["interrupted"]:
        print(
            f"{PROG}: {done['interrupted']}; "
            "`openstack twotier job list` shows the jobs that are left",
            file=sys.stderr,
        )
    return 0 if all(invariant["holds"] for invariant in done["invariants"].values()) else 1


def _compare(arguments) -> int:
    Console().print(summary.table([summary.load(path) for path in arguments.directories]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
