"""The CPU time of a server, as Nova's diagnostics show it."""

from collections.abc import Mapping
from typing import Any

from nova_twotier.cloud.errors import CloudError


def cpu_time(shown: Mapping[str, Any]) -> tuple[float, int]:
    """CPU seconds that a server has used, summed over its virtual CPUs, and their number.

    :param shown: the answer to `GET /servers/{id}/diagnostics` from microversion 2.48.
    :raises CloudError: if its driver does not tell.
    """
    times = [cpu.get("time") for cpu in shown.get("cpu_details") or ()]
    if not times or None in times:
        driver = shown.get("driver") or "the driver"
        raise CloudError(f"{driver} tells no CPU times of its servers")
    return sum(times) / 1e9, len(times)
