"""The command `python -m nova_twotier.tools.demo`: a trace under each policy, side by side."""

import argparse
import contextlib
import json
import pathlib
import subprocess
import threading
import time
from collections.abc import Iterator

from rich.console import Console

from nova_twotier.core.policies import POLICIES
from nova_twotier.tools.demo import play
from nova_twotier.tools.replay import summary
from nova_twotier.tools.replay.supervisor import python

#: Wall seconds between two looks at whether a policy is done.
INTERVAL = 0.5
#: The policies of the queue manager.
PLAYED = sorted(name for name, policy in POLICIES.items() if not policy.bandwidth)
#: What the first policy must really have done: key of the totals, least number, and in words.
FEATS = (
    ("background_starts", 3, "jobs started in the background"),
    ("swaps", 3, "swaps"),
    ("live_migrations", 2, "live migrations in Nova"),
)


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    directory, chosen = arguments.dir.absolute(), list(dict.fromkeys(arguments.policies))
    console = Console()
    began = time.monotonic()
    if len(chosen) == 1:
        status = play.run(chosen[0], directory / chosen[0], arguments.jobs, console)
    else:
        status = _side_by_side(chosen, directory, arguments.jobs, console)
    if status:
        return status
    done = [json.loads((directory / name / summary.FILE).read_text()) for name in chosen]
    good = _report(done, arguments.dir, console)
    console.print(f"{time.monotonic() - began:.0f} s in all", highlight=False)
    return 0 if good else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m nova_twotier.tools.{play.PROG}",
        allow_abbrev=False,
        description="Starts a cloud of fake hosts with real Nova and Placement on loopback for "
        "each policy, plays an excerpt of KTH-SP2 on it, and shows what really happened.",
    )
    parser.add_argument(
        "--dir",
        type=pathlib.Path,
        default=pathlib.Path(".demo"),
        metavar="DIR",
        help="directory of everything the demo writes (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=play.JOBS,
        metavar="N",
        choices=range(1, play.JOBS + 1),
        help=f"jobs of the excerpt, 1 to {play.JOBS} (default: %(default)s)",
    )
    parser.add_argument(
        "--policies",
        nargs="+",
        default=["amcbf", "fcfs"],
        metavar="POLICY",
        choices=PLAYED,
        help=f"of {', '.join(PLAYED)} (default: amcbf fcfs); they play at the same time",
    )
    return parser


def _side_by_side(chosen: list[str], directory: pathlib.Path, jobs: int, console: Console) -> int:
    """Play the policies at the same time, each in a process of its own.

    One cloud uses less than one core, and a replay lasts as long as the jobs in it.

    :returns: the first exit status that is not 0; the others are stopped then.
    """
    play.stop_on_signals()
    try:
        with contextlib.ExitStack() as stack:
            players = [
                stack.enter_context(_player(name, directory / name, jobs, console))
                for name in chosen
            ]
            while None in (statuses := [player.poll() for player in players]):
                if any(statuses):
                    break
                time.sleep(INTERVAL)
    except KeyboardInterrupt:
        return play.INTERRUPTED
    return next((status for status in statuses if status), 0)


@contextlib.contextmanager
def _player(
    name: str, out: pathlib.Path, jobs: int, console: Console
) -> Iterator[subprocess.Popen]:
    """A process that plays one policy; on exit it is stopped and takes its cloud down."""
    argv = python("nova_twotier.tools.demo.play", name, str(out), str(jobs))
    # A session of its own: Ctrl-C in the terminal is for us, we stop it in our turn, once.
    with subprocess.Popen(  # noqa: S603
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as player:
        printer = threading.Thread(target=_print, args=(name, player.stdout, console))
        printer.start()
        try:
            yield player
        finally:
            with play.uninterrupted():
                player.terminate()
                player.wait()
                printer.join()


def _print(name: str, lines, console: Console) -> None:
    for line in lines:
        text = f"{name:5} | {line.rstrip()}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def _report(done: list[dict], directory: pathlib.Path, console: Console) -> bool:
    """Print the results; whether all invariants hold and the first policy did what `FEATS` ask."""
    lines = []
    good = True
    for result in done:
        lines += ["", f"invariants under {result['name']}", *summary.verdicts(result)]
        good &= all(invariant["holds"] for invariant in result["invariants"].values())
    if done[0]["policy"] != "fcfs":
        lines += ["", f"what Nova really did under {done[0]['name']}"]
        for key, least, words in FEATS:
            count = done[0]["totals"][key] or 0
            enough = count >= least
            lines.append(f"{'✓' if enough else '✗'} {words}: {count}, at least {least}")
            good &= enough
    lines.append("")
    for result in done:
        chart = directory / result["name"] / "gantt.png"
        lines.append(f"Gantt chart of {result['name']}: {chart} and .html beside it")
    console.print(summary.table(done))
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return good
