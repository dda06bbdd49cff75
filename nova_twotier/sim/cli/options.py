"""The options that the commands share, and the objects they make."""

import argparse
from collections.abc import Callable

from nova_twotier.sim.cli import progress, values

SOURCE = (
    "a trace in the Standard Workload Format (NASA.swf, KTH.swf.gz), or a model and its number of "
    "jobs: feitelson:JOBS, jann:JOBS[:MODEL.json], lublin:JOBS[:type1], memoryless:JOBS[:SIZE]; "
    "with users' estimates drawn by the model of Tsafrir et al. if it ends in +tsafrir or "
    "+tsafrir:LONGEST, which cuts run times to LONGEST seconds, e.g. jann:1000+tsafrir:64800"
)


def add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help=SOURCE)


def add_workload(parser: argparse.ArgumentParser) -> None:
    """How the jobs of the source are taken, but for the load."""
    group = parser.add_argument_group("workload")
    group.add_argument(
        "--nodes",
        type=values.whole(1),
        metavar="N",
        help="slots of the machine, e.g. 128 (default: those of the topology, or of the trace; 320 "
        "for a model)",
    )
    group.add_argument(
        "--head",
        type=values.whole(1),
        metavar="N",
        help="only the first N jobs, e.g. 5000 (default: all)",
    )
    group.add_argument(
        "--seed",
        type=values.whole(0),
        default=0,
        metavar="N",
        help="of everything that is drawn at random, e.g. 7 (default: 0)",
    )


def add_load(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--load",
        type=values.load,
        metavar="LOAD",
        help="stretch the times between arrivals until this part of the machine is asked for, "
        "e.g. 0.7 (default: as they are)",
    )


def add_policies(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--policy",
        type=values.policies,
        required=True,
        metavar="P[,P...]",
        help="policies as `policy list` names them, e.g. easy,cmcbf,amcbf",
    )


def add_parallel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        type=values.whole(1),
        default=-1,
        metavar="N",
        help="runs at the same time, e.g. 4 (default: one a core)",
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="run on the Dask cluster with this scheduler, e.g. tcp://10.0.0.1:8786; its workers "
        "read traces by the same path",
    )
    progress.add_quiet(parser)


def add_schedule(parser: argparse.ArgumentParser) -> None:
    """A schedule, and the part of it to plot."""
    parser.add_argument(
        "schedule",
        metavar="SCHEDULE",
        help="what `run --schedule-out` or `twotier-manage schedule --out` wrote, e.g. "
        "schedule.parquet or schedule.csv",
    )
    for option, what, default in (("begin", "start", "first start"), ("end", "end", "last finish")):
        parser.add_argument(
            f"--{option}",
            type=values.moment,
            metavar="TIME",
            help=f"{what} of the window: seconds, as in the schedule, e.g. 86400; or, for one of "
            f"twotier-manage, UTC, e.g. 2026-11-24T08:30 (default: the {default})",
        )


def add_plot(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out",
        required=True,
        action="append",
        metavar="FILE",
        help="a file that ends in .png or .html; may be repeated, e.g. --out a.png --out a.html",
    )
    parser.add_argument(
        "--title",
        default="",
        help="title of the plot, e.g. 'NASA, 2 tiers' (default: what is plotted)",
    )
    progress.add_quiet(parser)


def workload(parsed: argparse.Namespace, say: Callable[[str], None]):
    """The workload of the options of `add_source`, `add_workload` and `add_load`.

    :param say: is told what a user may not expect of it.
    :raises ValueError: (and OSError) as the catalogue of workloads does.
    """
    from nova_twotier.sim.workloads import catalogue

    found = catalogue.load(parsed.source, nodes=nodes(parsed), seed=parsed.seed)
    for remark in found.remarks:
        say(remark)
    if parsed.head is not None:
        found = found.head(parsed.head)
    # Last, because the load of the first jobs is not that of all.
    return found if parsed.load is None else found.scaled(parsed.load)


def nodes(parsed: argparse.Namespace) -> int | None:
    """Slots of the machine, where the options say so."""
    topology = getattr(parsed, "topology", None)  # not every command has one
    if parsed.nodes is not None or topology is None:
        return parsed.nodes
    from nova_twotier.sim import network

    return len(network.topology(topology).hosts) * parsed.slots
