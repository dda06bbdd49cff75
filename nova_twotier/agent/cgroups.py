"""The range of CPU weights of cgroup v1 and v2."""

import pathlib

#: Exists if the CPU controller is that of cgroup v2.
_V2 = pathlib.Path("/sys/fs/cgroup/cgroup.controllers")
#: Lowest and highest CPU weight by version of cgroups. libvirt refuses to set others, and a domain
#: with others in its configuration does not start.
_RANGES = {1: (2, 262144), 2: (1, 10000)}


def version(marker: pathlib.Path = _V2) -> int:
    """The version of cgroups on this host, 1 or 2."""
    return 2 if marker.exists() else 1


def allowed(weight: int, version: int) -> int:
    """The CPU weight nearest to `weight` that this version of cgroups allows."""
    least, most = _RANGES[version]
    return min(max(weight, least), most)
