"""The options of `what-if` that change a queue's state, and the changed state."""

import argparse
import os

from nova_twotier.core import queue_state
from nova_twotier.core.queue_state import QueueState, changes
from nova_twotier.sim.cli import values

TIERS = ("any", "fg", "bg")


def add_changes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what if", "any of these, all at once")
    group.add_argument(
        "--add-job",
        type=job,
        action="append",
        default=[],
        metavar="FIELD=VALUE,...",
        help="another job arrives now: size, and if known estimate and walltime (seconds, or like "
        "90m, 1h30m, 1:30:00 or 1-12:00), cpu (0 to 1), user and tier (any, fg or bg), e.g. "
        "size=8,estimate=1h,cpu=0.9; may be repeated",
    )
    group.add_argument(
        "--without-job",
        type=values.whole(0),
        action="append",
        default=[],
        metavar="N",
        help="the job of this number is gone; may be repeated",
    )
    group.add_argument(
        "--estimate",
        type=estimate,
        action="append",
        default=[],
        metavar="N=TIME",
        help="the job of this number has another estimate, e.g. 17=7200 or 17=2h; may be repeated",
    )
    group.add_argument(
        "--add-hosts",
        type=values.whole(1),
        default=0,
        metavar="N",
        help="so many more hosts, like the most frequent ones, e.g. 4",
    )
    group.add_argument(
        "--remove-hosts",
        type=values.whole(1),
        default=0,
        metavar="N",
        help="so many hosts leave, those with the fewest processes, when their jobs have ended, "
        "e.g. 4",
    )
    group.add_argument(
        "--policy",
        type=policies,
        metavar="P[,P...]|all",
        help="another policy, e.g. amcbf; of several, or all, a row each, the best first",
    )


def job(text: str) -> dict:
    """The fields of a job, by name, as `add_job` of `core.queue_state` takes them."""
    readers = {
        "size": values.whole(1),
        "estimate": values.run_time,
        "cpu": values.share,
        "walltime": values.run_time,
        "user": str,
        "tier": tier,
    }
    found: dict = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if name not in readers or not equals or not value:
            raise argparse.ArgumentTypeError(
                f"{part!r} must be FIELD=VALUE, with one of: {', '.join(readers)}"
            )
        if name in found:
            raise argparse.ArgumentTypeError(f"{name} is given twice")
        found[name] = readers[name](value)
    if "size" not in found:
        raise argparse.ArgumentTypeError(f"{text!r} has no size, such as size=8,estimate=1h")
    chosen = found.pop("tier", "any")
    return found | {"foreground": chosen != "bg", "background": chosen != "fg"}


def tier(text: str) -> str:
    if text not in TIERS:
        raise argparse.ArgumentTypeError(f"tier is {text!r}; choose one of: {', '.join(TIERS)}")
    return text


def estimate(text: str) -> tuple[int, float]:
    """`N=TIME`."""
    number, equals, time = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} must be N=TIME, such as 17=7200 or 17=2h")
    return values.whole(0)(number), values.run_time(time)


def policies(text: str) -> list[str]:
    """Names of policies that the queue manager has, each once; all of them for `all`."""
    from nova_twotier.core import policies as known

    if text == "all":
        return list(known.POLICIES)
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        try:
            known.get(name)
        except known.UnknownPolicy as error:
            raise argparse.ArgumentTypeError(f"{error}; or all") from None
    return names


def changed(state: QueueState, parsed: argparse.Namespace) -> tuple[QueueState, list[int]]:
    """The state with the changes but for the policy, and the numbers of the new jobs.

    :raises InvalidChange: if one cannot be made.
    """
    for number in parsed.without_job:
        state = changes.without_job(state, number)
    for number, seconds in parsed.estimate:
        state = changes.with_estimate(state, number, seconds)
    if parsed.add_hosts:
        state = changes.add_hosts(state, parsed.add_hosts)
    if parsed.remove_hosts:
        state = changes.remove_hosts(state, parsed.remove_hosts)
    added = []
    for fields in parsed.add_job:
        state, number = changes.add_job(state, **fields)
        added.append(number)
    return state, added


def read(path: str) -> QueueState:
    """The state in a file.

    :raises OSError, InvalidState: if it cannot be read, or is none.
    """
    import json

    if ":" in path and not os.path.exists(path):
        raise queue_state.InvalidState(
            f"{path}: there is no such file; of a trace or a model, give both --at SECONDS and "
            "--under POLICY"
        )
    with open(path, encoding="utf-8") as file:
        try:
            data = json.load(file)
        except (ValueError, RecursionError) as error:  # also of numbers too long, and of any depth
            raise queue_state.InvalidState(
                f"{path} is not JSON ({error}): give what `twotier-manage snapshot` wrote, or a "
                "trace with --at and --under"
            ) from None
    return queue_state.load(data, path)
