"""Writes a workload: what `workload generate` and `workload convert` share."""

import argparse
import dataclasses

TRACES = (".swf", ".swf.gz")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--exact-estimates",
        action="store_true",
        help="replace the users' estimates by the run times",
    )
    parser.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="what to write: a trace (.swf, .swf.gz) or a table (.csv, .parquet), e.g. kth.swf",
    )


def check(path: str) -> None:
    """Check, before a long trace is read, that a workload can be written to a path.

    :raises ValueError: if its name ends in none of the suffixes, or no file can be made there.
    """
    from nova_twotier.sim import tables, whole_file

    if not path.endswith(TRACES + tables.SUFFIXES):
        raise ValueError(
            f"{path}: a workload is a file that ends in {' or '.join(TRACES)} (a trace), or in "
            f"{' or '.join(tables.SUFFIXES)} (a table)"
        )
    whole_file.possible(path)


def write(workload, parsed: argparse.Namespace) -> None:
    """Write the workload as the options of `add_arguments` say, where `check` allows it.

    :raises OSError: if it cannot be written.
    """
    import pandas

    from nova_twotier.sim import tables
    from nova_twotier.sim.workloads import swf

    if parsed.exact_estimates:
        jobs = tuple(job._replace(estimate=job.runtime) for job in workload.jobs)
        workload = dataclasses.replace(workload, jobs=jobs)
    if parsed.out.endswith(TRACES):
        swf.write(parsed.out, workload.to_swf())
    else:
        tables.write(pandas.DataFrame(workload.jobs), parsed.out)
