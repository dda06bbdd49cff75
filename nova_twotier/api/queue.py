"""The resource of a pool's queue: its mode, its policy, and how many jobs wait and run."""

from oslo_log import log as logging

from nova_twotier.api import qos, queries, quotas, schemas, views
from nova_twotier.api.endpoint import Request, Resource, endpoint
from nova_twotier.api.errors import Refused
from nova_twotier.api.predictions import learned
from nova_twotier.api.site import Site
from nova_twotier.core import policies
from nova_twotier.db import queue_policy
from nova_twotier.db.heartbeats import Heartbeat
from nova_twotier.db.models import DEFAULT_POOL
from nova_twotier.db.states import JobState

LOG = logging.getLogger(__name__)


class Queue(Resource):
    @endpoint(
        "Show the queue",
        rule="twotier:queue:show",
        query=schemas.QUEUE_QUERY,
        answers={200: schemas.QUEUE},
        refusals=(404,),
        conditional=True,
    )
    def on_get(self, request: Request):
        pool = self._pool(request)
        project = request.caller.scope(
            "twotier:queue:show", request.query.get("all_projects", False)
        )
        found = queries.by_state(self.site.store, project, pool)
        heartbeat = self.site.heartbeats([pool])[pool]
        return {
            "pool": pool,
            "mode": self.site.store.queue_mode(pool),
            "manager": views.manager(heartbeat, lasting=request.conditional),
            "policy": policy_of(self.site, pool, heartbeat),
            "predictions": views.predictions(learned(self.site.store, pool)),
            "project_id": project,
            "jobs": {state: jobs for state, (jobs, _processes) in found.items()},
            "processes": {
                "waiting": found[JobState.QUEUED][1],
                "running": found[JobState.RUNNING][1],
            },
            "jobs_by_qos": queries.by_class(self.site.store, project, pool),
            "qos_allowed": qos.allowed(self.site, request.caller, pool),
            "limits": None if project is None else quotas.limits(self.site, project),
        }

    @endpoint(
        "Pause, drain or resume the queue, or change its policy",
        rule="twotier:queue:update",
        query=schemas.QUEUE_CHANGE_QUERY,
        body=schemas.QUEUE_CHANGE,
        answers={200: schemas.QUEUE_CHANGED},
        refusals=(404,),
    )
    def on_patch(self, request: Request):
        pool, user = self._pool(request), request.caller.user_id
        # In the events, other projects are not told which operator it was.
        if mode := request.body.get("mode"):
            self.store_for(request).set_queue_mode(pool, mode)
            LOG.info("The queue of pool %s is %s: user %s", pool, mode, user)
        if policy := request.body.get("policy"):
            chosen = None if policy == schemas.AS_CONFIGURED else policy
            queue_policy.choose(self.store_for(request), pool, chosen)
            LOG.info("The policy of pool %s was set to %s: user %s", pool, policy, user)
        return {
            "pool": pool,
            "mode": self.site.store.queue_mode(pool),
            "policy": policy_of(self.site, pool, self.site.heartbeats([pool])[pool]),
        }

    def _pool(self, request: Request) -> str:
        """:raises Refused: if there is no such pool."""
        pool, pools = request.query.get("pool", DEFAULT_POOL), self.site.conf.manager.pools
        if pool not in pools:
            raise Refused(404, "queue.not_found", f"there is no such pool, only {', '.join(pools)}")
        return pool


def policy_of(site: Site, pool: str, heartbeat: Heartbeat) -> dict:
    """A pool's policy as the API shows it: the one in use, and where it comes from.

    :param heartbeat: of the pool's queue manager; without one, no policy is in use, and the one
        that the next manager will use is shown.
    """
    configured = site.conf.manager.policy
    with site.store.reading() as session:
        chosen = queue_policy.chosen(session, pool)
        used = None if heartbeat.missing else queue_policy.in_use(session, pool)
    name = used or chosen or configured
    known = policies.POLICIES.get(name)
    return {
        "name": name,
        "description": known.summary if known else "A policy of another release.",
        "configured": configured,
        "set_to": chosen,
    }
