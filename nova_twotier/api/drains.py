"""The resources by which operators drain hosts for maintenance, and end that."""

import time

from oslo_log import log as logging

from nova_twotier.api import cluster_schemas, hosts
from nova_twotier.api.endpoint import Request, Resource, endpoint
from nova_twotier.api.errors import Refused, invalid
from nova_twotier.api.validation import parse_seconds
from nova_twotier.db import drains

LOG = logging.getLogger(__name__)

#: The columns of a drain, by what the API calls them.
FIELDS = {"starts_at": "since", "ends_at": "until", "reason": "reason", "migrate": "migrate"}


class Drain(Resource):
    @endpoint(
        "Drain a host: from some time on, nothing new is placed there; or change its drain",
        rule="twotier:hosts:drain",
        body=cluster_schemas.DRAIN_REQUEST,
        answers={200: cluster_schemas.HOST},
        refusals=(404,),
    )
    def on_post(self, request: Request):
        body, now = request.body, time.time()
        view = hosts.read_hosts(self.site.placement).get(body["host"])
        if view is None:
            raise _no_such_host(body["host"])
        given = {field: body[name] for name, field in FIELDS.items() if name in body}
        for name in ("starts_at", "ends_at"):
            if text := body.get(name):
                given[FIELDS[name]] = parse_seconds(name, text)
        try:
            drain = drains.drain(self.store_for(request), body["host"], now, **given)
        except drains.Over:
            raise invalid(
                "ends_at: give a time after starts_at, and not one that is over, or null for none"
            ) from None
        # Not in the event, as with queues: who it was is in the log alone.
        LOG.info("Host %s is to be drained: user %s", body["host"], request.caller.user_id)
        return hosts.row(drain.host, view, drain, now)


class Undrain(Resource):
    @endpoint(
        "End the drain of a host: it takes new processes again",
        rule="twotier:hosts:undrain",
        body=cluster_schemas.UNDRAIN_REQUEST,
        answers={200: cluster_schemas.UNDRAINED},
        refusals=(404, 409),
    )
    def on_post(self, request: Request):
        host = request.body["host"]
        if not drains.undrain(self.store_for(request), host):
            # Only now: a host that has left the ledger may still be drained.
            if host not in hosts.read_hosts(self.site.placement):
                raise _no_such_host(host)
            raise Refused(
                409,
                "host.not_drained",
                f"host {host!r} is not drained; see openstack twotier host list",
            )
        LOG.info("Host %s is no longer drained: user %s", host, request.caller.user_id)
        return {"name": host, "drain": None}


def _no_such_host(name: str) -> Refused:
    return Refused(
        404,
        "host.not_found",
        f"there is no host {name!r} with slots; see openstack twotier host list",
    )
