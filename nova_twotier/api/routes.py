"""The routes, and the resources that describe the API itself."""

from nova_twotier.api import (
    arrays,
    cancellation,
    drains,
    events,
    hosts,
    jobs,
    login,
    openapi,
    pools,
    queue,
    schedule,
    schemas,
    standings,
    topology,
    usage,
    utilisation,
)
from nova_twotier.api.endpoint import Request, Resource, endpoint
from nova_twotier.api.versions import NEWEST, OLDEST


def _version(request: Request) -> dict:
    return {
        "id": "v1.0",
        "status": "CURRENT",
        "min_version": OLDEST,
        "max_version": NEWEST,
        "links": [{"rel": "self", "href": request.href("/v1/")}],
    }


class Versions(Resource):
    @endpoint("List the versions of the API", rule=None, answers={200: schemas.VERSIONS})
    def on_get(self, request: Request):
        return {"versions": [_version(request)]}


class Version(Resource):
    @endpoint("Show the version of the API", rule=None, answers={200: schemas.VERSION})
    def on_get(self, request: Request):
        return {"version": _version(request)}


class OpenApi(Resource):
    @endpoint("Describe the API", rule=None, answers={200: {"type": "object"}})
    def on_get(self, request: Request):
        return openapi.DOCUMENT


ROUTES = {
    "/": Versions,
    "/v1": Version,
    "/v1/openapi.json": OpenApi,
    "/v1/login": login.Login,
    "/v1/login/projects": login.Projects,
    "/v1/jobs": jobs.Jobs,
    "/v1/jobs/cancel": cancellation.Cancellation,
    "/v1/jobs/{uuid}": jobs.OneJob,
    "/v1/jobs/{uuid}/complete": jobs.Complete,
    "/v1/jobs/{uuid}/explain": jobs.Explain,
    "/v1/jobs/{uuid}/hold": jobs.Hold,
    "/v1/jobs/{uuid}/release": jobs.Release,
    "/v1/jobs/{uuid}/requeue": jobs.Requeue,
    "/v1/arrays": arrays.Arrays,
    "/v1/arrays/{array}": arrays.OneArray,
    "/v1/arrays/{array}/actions": arrays.Actions,
    "/v1/queue": queue.Queue,
    "/v1/queue/jobs": standings.Standings,
    "/v1/pools": pools.Pools,
    "/v1/schedule": schedule.Schedule,
    "/v1/hosts": hosts.Hosts,
    "/v1/hosts/drain": drains.Drain,
    "/v1/hosts/undrain": drains.Undrain,
    "/v1/topology": topology.Topology,
    "/v1/events": events.Events,
    "/v1/usage": usage.Usage,
    "/v1/utilisation": utilisation.Utilisation,
}


def operations():
    """Path, method and description of every endpoint."""
    for path, resource in ROUTES.items():
        for name, method in sorted(vars(resource).items()):
            if name.startswith("on_"):
                yield path, name.removeprefix("on_"), method.endpoint
