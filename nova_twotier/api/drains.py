"""The resources by which operators drain hosts for maintenance, and end that."""

import time

from oslo_log import log as logging

from nova_twotier.api import cluster_schemas, hosts
from nova_twotier.api.endpoint import Request, Resource, endpoint
from nova_twotier.api.errors import Refused, invalid
from nova_twotier.api.validation import parse_time
from nova_twotier.db import drains, models

LOG = logging.getLogger(__name__)


class Drain(Resource):
    @endpoint(
        "Drain a host: from some time on, nothing new is placed there",
        rule="twotier:hosts:drain",
        body=cluster_schemas.DRAIN_REQUEST,
        answers={200: cluster_schemas.HOST},
        refusals=(404,),
    )
    def on_post(self, request: Request):
        body, now = request.body, time.time()
        view = hosts.read_hosts(self.site.placement).get(body["host"])
        if view is None:
            raise Refused(
                404,
                "host.not_found",
                f"there is no host {body['host']!r} with slots; see openstack twotier host list",
            )
        since, until = (
            parse_time(body[name]).timestamp() if body.get(name) else None
            for name in ("starts_at", "ends_at")
        )
        since = now if since is None else since
        if until is not None and until <= max(since, now):
            raise invalid("ends_at: give a time after starts_at, and not one that is over")
        drain = models.Drain(
            host=body["host"],
            since=since,
            until=until,
            reason=body.get("reason", ""),
            migrate=body.get("migrate", False),
        )
        shown = hosts.row(drain.host, view, drain, now)
        drains.drain(self.site.store, drain)
        # Not in the event, as with queues: who it was is in the log alone.
        LOG.info("Host %s is to be drained: user %s", body["host"], request.caller.user_id)
        return shown


class Undrain(Resource):
    @endpoint(
        "End the drain of a host: it takes new processes again",
        rule="twotier:hosts:undrain",
        body=cluster_schemas.UNDRAIN_REQUEST,
        answers={200: cluster_schemas.UNDRAINED},
        refusals=(409,),
    )
    def on_post(self, request: Request):
        host = request.body["host"]
        if not drains.undrain(self.site.store, host):
            raise Refused(
                409,
                "host.not_drained",
                f"host {host!r} is not drained; see openstack twotier host list",
            )
        LOG.info("Host %s is no longer drained: user %s", host, request.caller.user_id)
        return {"name": host, "drain": None}
