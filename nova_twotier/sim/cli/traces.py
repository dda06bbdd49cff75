"""Writes a workload: what `workload generate` and `workload convert` share."""

import argparse
import dataclasses

from nova_twotier.sim.cli import values

TRACES = (".swf", ".swf.gz")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--estimates",
        type=values.estimates,
        metavar="exact|SECONDS",
        help="replace the users' estimates: exact, the run times; or drawn by the model of Tsafrir "
        "et al. (2005) up to this longest one, e.g. 64800 (default: as they are)",
    )
    parser.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="what to write: a trace (.swf, .swf.gz) or a table (.csv, .parquet), e.g. kth.swf",
    )


def write(workload, parsed: argparse.Namespace) -> None:
    """Write the workload as the options of `add_arguments` say.

    :raises ValueError: if the file's name ends in none of the suffixes.
    :raises OSError: if it cannot be written.
    """
    import pandas

    from nova_twotier.sim import tables
    from nova_twotier.sim.workloads import swf, tsafrir05

    if parsed.estimates == "exact":
        jobs = tuple(job._replace(estimate=job.runtime) for job in workload.jobs)
        workload = dataclasses.replace(workload, jobs=jobs)
    elif parsed.estimates is not None:
        workload = tsafrir05.estimates(workload, parsed.estimates, parsed.seed)
    if parsed.out.endswith(TRACES):
        swf.write(parsed.out, workload.to_swf())
    else:
        tables.write(pandas.DataFrame(workload.jobs), parsed.out)
