"""The papers' traces, from the Parallel Workloads Archive."""

import pathlib
from collections.abc import Mapping
from typing import NamedTuple

from nova_twotier.sim.workloads import archive

#: The default directory of the traces: what `traces fetch` makes, else that of a shared tree.
SHARED = pathlib.Path("..", "shared", "traces")
DIRECTORY = SHARED if SHARED.is_dir() and not archive.DIRECTORY.is_dir() else archive.DIRECTORY


class MissingTraces(ValueError):
    """Traces that are not there; the message says which and where they are to be had."""


class Source(NamedTuple):
    """A trace: the name of its file without suffix, and the slots of the machine."""

    file: str
    nodes: int


#: Of JSS 2015, by the paper's names, those that take longest to run first.
TRACES = {
    "LANL": Source("LANL-CM5-1994-4.1-cln", 1024),
    "CTC": Source("CTC-SP2-1996-3.1-cln", 338),
    "SDSC": Source("SDSC-SP2-1998-4.2-cln", 128),
    "KTH": Source("KTH-SP2-1996-2", 100),
}


def find(directory: pathlib.Path, traces: Mapping[str, Source] = TRACES) -> dict[str, pathlib.Path]:
    """The file of each trace, packed or not.

    :raises MissingTraces: if one of them is not there.
    """
    found, missing = {}, []
    for name, source in traces.items():
        plain = directory / f"{source.file}.swf"
        packed = plain.with_suffix(".swf.gz")
        path = next((each for each in (packed, plain) if each.is_file()), None)
        if path is None:
            missing.append(source.file)
        else:
            found[name] = path
    if missing:
        raise MissingTraces(
            f"{directory}: has no {', '.join(missing)}; name another directory with --traces, or "
            f"run: twotier-sim traces fetch {' '.join(missing)} --out {directory}"
        )
    return found
