"""Which resource answers where; the description of the API follows from it."""

from nova_twotier.manager.api import documents, events, hosts, jobs, queue, topology

ROUTES = {
    "/": documents.Versions,
    "/v1": documents.Version,
    "/v1/openapi.json": documents.OpenApi,
    "/v1/jobs": jobs.Jobs,
    "/v1/jobs/{uuid:uuid}": jobs.OneJob,
    "/v1/jobs/{uuid:uuid}/complete": jobs.Complete,
    "/v1/jobs/{uuid:uuid}/explain": jobs.Explain,
    "/v1/jobs/{uuid:uuid}/hold": jobs.Hold,
    "/v1/jobs/{uuid:uuid}/release": jobs.Release,
    "/v1/queue": queue.Queue,
    "/v1/hosts": hosts.Hosts,
    "/v1/topology": topology.Topology,
    "/v1/events": events.Events,
}


def operations():
    """Path, method and description of everything that is answered."""
    for path, resource in ROUTES.items():
        for name, method in sorted(vars(resource).items()):
            if name.startswith("on_"):
                yield path, name.removeprefix("on_"), method.operation
