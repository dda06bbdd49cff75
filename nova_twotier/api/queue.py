"""The resource of a pool's queue: its mode, its policy, and how many jobs wait and run."""

from oslo_log import log as logging

from nova_twotier.api import queries, quotas, schemas, views
from nova_twotier.api.endpoint import Request, Resource, endpoint
from nova_twotier.api.errors import Refused
from nova_twotier.core import policies
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
    )
    def on_get(self, request: Request):
        pool = self._pool(request)
        project = request.caller.scope(
            "twotier:queue:show", request.query.get("all_projects", False)
        )
        found = queries.by_state(self.site.store, project, pool)
        name = self.site.conf.manager.policy
        return {
            "pool": pool,
            "mode": self.site.store.queue_mode(pool),
            "manager": views.manager(self.site.heartbeats([pool])[pool]),
            "policy": {
                "name": name,
                "description": policies.POLICIES[name].summary,
            },
            "project_id": project,
            "jobs": {state: jobs for state, (jobs, _processes) in found.items()},
            "processes": {
                "waiting": found[JobState.QUEUED][1],
                "running": found[JobState.RUNNING][1],
            },
            "limits": None if project is None else quotas.limits(self.site, project),
        }

    @endpoint(
        "Pause, drain or resume the queue",
        rule="twotier:queue:update",
        query=schemas.QUEUE_CHANGE_QUERY,
        body=schemas.QUEUE_CHANGE,
        answers={200: schemas.QUEUE_CHANGED},
        refusals=(404,),
    )
    def on_patch(self, request: Request):
        pool, mode = self._pool(request), request.body["mode"]
        self.site.store.set_queue_mode(pool, mode)
        # Tenants see the event, so only the log names the user.
        LOG.info("The queue of pool %s is %s: user %s", pool, mode, request.caller.user_id)
        return {"pool": pool, "mode": mode}

    def _pool(self, request: Request) -> str:
        """:raises Refused: if there is no such pool."""
        pool, pools = request.query.get("pool", DEFAULT_POOL), self.site.conf.manager.pools
        if pool not in pools:
            raise Refused(
                404, "queue.not_found", f"there is no such pool; there are {', '.join(pools)}"
            )
        return pool
