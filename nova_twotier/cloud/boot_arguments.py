"""Builds the request that boots the servers of a job: the arguments of novaclient."""

import base64
from typing import TYPE_CHECKING, Any

from nova_twotier.cloud import peers
from nova_twotier.cloud.servers import JOB_KEY
from nova_twotier.core.jobs import server_name

if TYPE_CHECKING:
    # Its libraries need not be installed for callers that only read Nova.
    from nova_twotier.db.models import Job

#: Most processes that are dispatched in another order than that of their numbers: Nova keeps the
#: hint with each server.
MOST_DISPATCHED = 1000


def of(
    job: "Job",
    options,
    flavor: str,
    user_data: str | None,
    group: str | None,
    near: str,
    max_mbps: int,
) -> dict[str, Any]:
    """The arguments of `servers.create` for all servers of a job in one request.

    :param options: the options of group `[manager]`.
    :param flavor: the id of the job's flavor.
    :param group: the id of its server group.

    For the others see `Cloud.boot`.
    """
    networks = job.networks or [options.network]
    hints: dict[str, str] = {"twotier:job": job.uuid}
    if group:
        hints["group"] = group
    if job.mbps:
        hints["twotier:bandwidth"] = str(job.mbps)
    if order := _dispatch(job):
        hints["twotier:dispatch"] = order
    if near:
        hints["twotier:hosts"] = near
    if max_mbps:
        hints["twotier:max_mbps"] = str(max_mbps)
    return {
        "name": _server_name(job),
        "image": job.image or options.image,
        "flavor": flavor,
        "min_count": job.size,
        "max_count": job.size,
        "nics": _networks(networks),
        "key_name": job.key_name,
        "userdata": base64.b64decode(user_data) if user_data else None,
        "meta": {JOB_KEY: job.uuid, **peers.at_boot(job, networks)},
        "scheduler_hints": hints,
    }


def _server_name(job: "Job") -> str:
    """The server name in a boot request; Nova then names each server tt-<job>-<process>.

    Nova itself numbers the servers of one request, but not a server that is alone.
    """
    return f"tt-{job.number}" if job.size > 1 else server_name(job.number, 0)


def _dispatch(job: "Job") -> str:
    """The processes in the order in which they get the best places, the hottest first; empty if
    that is the order of their numbers."""
    order = job.core.dispatch
    if order is None or job.size > MOST_DISPATCHED:
        return ""
    return ",".join(map(str, order))


def _networks(networks: list[str]) -> str | list[dict[str, str]]:
    """As novaclient takes them: `none` and `auto` stand alone."""
    if networks[0] in ("none", "auto"):
        return networks[0]
    return [{"net-id": network} for network in networks]
