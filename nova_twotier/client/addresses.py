"""The addresses of a job's servers. Nova has them, and is asked as the user, in one request."""

from keystoneauth1 import exceptions as ksa
from keystoneauth1.adapter import Adapter

from nova_twotier.client import names
from nova_twotier.client.connection import in_brief
from nova_twotier.client.rest import OVER

#: Seconds that Nova may take to answer.
TIMEOUT = 10.0
#: Most servers in an answer of Nova's, unless its operator has changed that.
MOST = 1000


def add(clients, job: dict) -> str | None:
    """Give each server of a job its `addresses`: a list, or None if they are not known.

    A job is shown without addresses rather than not at all, so Nova's errors are not raised.

    :returns: why the addresses are not known, for people; None if nobody has to be told.
    """
    # An API of an earlier release does not name the servers.
    servers = job.get("servers", [])
    for server in servers:
        server["addresses"] = None
    gone = job["state"] in OVER and not job["keep_servers"]
    if not servers or gone or not names.known(clients, "compute"):
        return None
    try:
        found = _found(clients, job)
    except (ksa.ClientException, ValueError) as error:
        return f"the servers are shown without their addresses: {in_brief(error)}"
    for server in servers:
        server["addresses"] = found.get(server["uuid"])
    missing = sum(not server["until"] and server["addresses"] is None for server in servers)
    if missing:
        return (
            f"{missing:,} of {len(servers):,} servers are shown without their addresses: "
            "Nova's answer lacks them"
        )
    return None


def _found(clients, job: dict) -> dict[str, list[str]]:
    """Addresses by the id of the server.

    :raises ClientException, ValueError: if Nova does not answer as it should.
    """
    endpoint = clients.get_endpoint_for_service_type(
        "compute", region_name=clients.region_name, interface=clients.interface
    )
    nova = Adapter(clients.session, endpoint_override=endpoint, service_type="compute")
    query = {
        "name": f"^tt-{job['number']}-",
        "limit": MOST,
        "sort_key": "created_at",
        "sort_dir": "asc",
    }
    if clients.session.get_project_id() not in (None, job["project_id"]):
        query["all_tenants"] = 1
    answer = nova.get("/servers/detail", params=query, timeout=TIMEOUT)
    try:
        return {server["id"]: _addresses(server) for server in answer.json()["servers"]}
    except (AttributeError, LookupError, TypeError, ValueError):
        raise ValueError(f"{endpoint} does not answer as Nova does") from None


def _addresses(server: dict) -> list[str]:
    networks = server["addresses"].values()
    return [address["addr"] for network in networks for address in network]
