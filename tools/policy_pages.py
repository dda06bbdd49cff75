"""Writes the generated parts of the pages about policies, doc/policies.md and doc/policies/.

`python -m nova_twotier.tools.policy_pages --traces DIR` in the root of the repository runs every
policy on the traces. Text by hand stays: only what is between pairs of comments is replaced.
"""

import argparse
import pathlib
import sys
from collections.abc import Iterable, Iterator, Mapping

from nova_twotier.core.policies import POLICIES, Policy
from nova_twotier.core.policies.backfilling import Backfilling
from nova_twotier.sim import sweep
from nova_twotier.sim.reproduce import archive
from nova_twotier.sim.scenario import Scenario

#: The parts: the line before is `<!-- NAME -->`, the one after `<!-- end of NAME -->`.
FACTS, TRACES, EVERY = "facts", "traces", "every policy"
COMMAND = "python -m nova_twotier.tools.policy_pages --traces DIR"
#: The policies that each page has beside its own.
BESIDE = ("fcfs", "easy", "amcbf")
#: Columns of a page: of a summary, its unit, and decimals.
COLUMNS = {
    "wait (min)": ("average_wait_seconds", 60, 1),
    "p99 (h)": ("p99_wait_seconds", 3600, 1),
    "longest (h)": ("maximum_wait_seconds", 3600, 0),
    "slowdown": ("average_bounded_slowdown", 1, 1),
    "CPU (%)": ("utilisation", 0.01, 0),
    "migrations": ("migrations_per_job", 1, 2),
    "evictions": ("evictions_per_job", 1, 2),
    "kills": ("kills_per_job", 1, 2),
}
#: Of them, those in the table of all policies.
SHORT = ("wait (min)", "slowdown", "longest (h)")
#: What the columns of a page are.
LEGEND = (
    "Average wait, its 99th percentile, the longest; average bounded slowdown; CPU utilisation; "
    "and migrations (with restores), evictions and kills a job."
)
#: Summaries of runs, by the name of the trace and of the policy.
Runs = Mapping[tuple[str, str], Mapping[str, float]]


class NoPlace(ValueError):
    """A page has no pair of marker comments for a generated part."""


def main(args: list[str] | None = None) -> int:
    options = _parser().parse_args(args)
    try:
        if options.facts:
            write_facts(options.doc)
            return 0
        points = _points(options.traces, options.head)
        sweep.resume(list(points.values()), options.out, jobs=options.jobs)
        runs = {which: sweep.finished(point, options.out) for which, point in points.items()}
        write_facts(options.doc)
        write_results(options.doc, runs, options.head)
    except (NoPlace, OSError, archive.MissingTraces) as error:
        print(f"policy_pages: {error}", file=sys.stderr)
        return 1
    return 0


def write_facts(doc: pathlib.Path) -> None:
    """Write what the policies say of themselves.

    :raises NoPlace: if a policy has no page, or a page no place.
    """
    for name, policy in POLICIES.items():
        _replace(_page(doc, name), FACTS, facts(policy))


def write_results(doc: pathlib.Path, runs: Runs, head: int | None) -> None:
    """Write the tables of the runs.

    :param head: how many jobs of each trace were run; None: all.
    """
    which = "All jobs" if head is None else f"The first {head:,} jobs"
    command = COMMAND if head is None else f"{COMMAND} --head {head}"
    for name in POLICIES:
        shown = [each for each in BESIDE if each != name]
        text = f"{which} of each trace, at the times at which they were submitted: `{command}`.\n"
        text += f"{LEGEND}\n\n"
        _replace(_page(doc, name), TRACES, text + _table(runs, [name, *shown]))
    text = f"{which} of each trace (`{command}`): average wait in\n"
    text += "minutes / average bounded slowdown / longest wait in hours.\n\n"
    _replace(doc / "policies.md", EVERY, text + _overview(runs))


def facts(policy: type[Policy]) -> str:
    """The summary of a policy and a table of its properties, as Markdown."""
    tiers = {1: "one", 2: "two"}.get(policy.tiers, "as many as the hosts have")
    rows = {
        "tiers": tiers,
        "preempted jobs": _fate(policy),
        "guaranteed bandwidth": "yes" if policy.embeds else "no: jobs that ask for it wait",
    }
    lines = [policy.summary, "", *_markdown(("what", "how"), rows.items())]
    return "\n".join(lines)


def _fate(policy: type[Policy]) -> str:
    if issubclass(policy, Backfilling):
        return "none: what runs is left alone"
    return "begin anew, their work is lost" if policy.kills else "continue later, with their state"


def _points(traces: pathlib.Path, head: int | None) -> dict[tuple[str, str], sweep.Point]:
    """The runs to make, by the names of trace and policy."""
    return {
        (trace, name): sweep.Point(
            str(path.resolve()), Scenario(name), nodes=archive.TRACES[trace].nodes, head=head
        )
        for trace, path in archive.find(traces).items()
        for name in POLICIES
    }


def _table(runs: Runs, policies: list[str]) -> str:
    rows = [
        (trace, f"**`{name}`**" if name == policies[0] else f"`{name}`", *_cells(runs, trace, name))
        for trace in archive.TRACES
        for name in policies
    ]
    return "\n".join(_markdown(("trace", "policy", *COLUMNS), rows))


def _overview(runs: Runs) -> str:
    rows = []
    for name in sorted(POLICIES):
        cells = [" / ".join(_cells(runs, trace, name, SHORT)) for trace in archive.TRACES]
        rows.append((f"[`{name}`](policies/{name}.md)", *cells))
    return "\n".join(_markdown(("policy", *archive.TRACES), rows))


def _cells(runs: Runs, trace: str, policy: str, columns: Iterable[str] = COLUMNS) -> Iterator[str]:
    row = runs[trace, policy]
    for column in columns:
        metric, unit, decimals = COLUMNS[column]
        yield f"{row[metric] / unit:,.{decimals}f}"


def _markdown(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    columns = list(header)
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _page(doc: pathlib.Path, name: str) -> pathlib.Path:
    path = doc / "policies" / f"{name}.md"
    if not path.exists():
        raise NoPlace(f"{path}: there is no page of the policy {name}")
    return path


def _replace(path: pathlib.Path, part: str, text: str) -> None:
    begin, end = f"<!-- {part} -->\n", f"<!-- end of {part} -->\n"
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    _old, ended, after = rest.partition(end)
    if not (found and ended):
        raise NoPlace(f"{path}: has no lines {begin.strip()} and {end.strip()}")
    path.write_text(f"{before}{begin}\n{text}\n\n{end}{after}", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m nova_twotier.tools.policy_pages", description=__doc__.partition("\n")[0]
    )
    parser.add_argument(
        "--traces", type=pathlib.Path, default=archive.DIRECTORY, metavar="DIR", help="the traces"
    )
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        default=pathlib.Path("build/policy-pages"),
        metavar="DIR",
        help="where finished runs are kept, for a second call (default: %(default)s)",
    )
    parser.add_argument("--head", type=int, metavar="N", help="only the first N jobs of each trace")
    parser.add_argument("--jobs", type=int, default=-1, metavar="N", help="runs at the same time")
    parser.add_argument(
        "--facts",
        action="store_true",
        help="run nothing; only write what policies say of themselves",
    )
    parser.add_argument(
        "--doc", type=pathlib.Path, default=pathlib.Path("doc"), metavar="DIR", help="the pages"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
