"""Clean up after a job: its servers, its server group, and its entry."""

from oslo_log import log as logging

from nova_twotier.db.models import OVER, JobState
from nova_twotier.ledger import claims
from nova_twotier.manager.operations import bandwidth
from nova_twotier.manager.operations.operation import (
    Call,
    Note,
    Operation,
    Step,
    defect,
    done,
    remove,
    still_claiming,
    tried,
    with_fault,
)

LOG = logging.getLogger(__name__)

#: What can be shelved.
KEPT = frozenset({"ACTIVE", "PAUSED", "SHUTOFF", "SUSPENDED"})
#: On its way off its host; nova.conf says that it does not rest there.
LEAVING = "SHELVED"
#: There is nothing to keep of it.
LOST = frozenset({"BUILD", "ERROR"})


class End(Operation):
    """Leads to the state that the plan names: over, or queued once more from the beginning."""

    def begin(self, action, jobs):
        jobs[action.job].state = JobState.ENDING

    def advance(self, action, jobs, seen, env):
        job = jobs[action.job]
        gang = seen.gang(job)
        if gang and not action.begun and not action.reason and (reason := defect(job, seen)):
            # For operators, before the servers take Nova's fault with them.
            action.reason = with_fault(reason, gang)
            LOG.warning("Job %s ends: %s", job.number, action.reason)
        keeps = job.keep_servers and action.plan["then"] in OVER
        step = self._keep(action, gang, seen, env) if keeps else remove(action, job, seen, env)
        if step is not None:
            return step
        # Before others are told that its slots are free: its bandwidth is, too.
        claims.release(env.placement, job.uuid)
        if calls := self._leftovers(action, job, gang, env):
            return Step(calls, freed=True)
        return done()

    @staticmethod
    def _leftovers(action, job, gang, env):
        """Requests to delete what else was made for the job, once each."""
        calls = []
        if not gang:
            calls.append(Call("group", lambda: env.cloud.delete_server_group(job)))
        if job.trust_id and action.plan["then"] in OVER:
            calls.append(Call("trust", lambda: env.cloud.delete_trust(job)))
        calls += bandwidth.withdraw(action, job, gang, env)
        return [call for call in calls if not tried(action, call.key)]

    @staticmethod
    def _keep(action, gang, seen, env):
        """Servers that stay are shelved: so they hold no slots, and whoever wants them back gets
        them where Nova's scheduler finds room."""
        step, over = Step(), True
        for server in gang:
            unlock = f"unlock {server.id}"
            if server.status == "SHELVED_OFFLOADED" and not server.busy:
                if not server.locked or tried(action, unlock):
                    continue
                step.calls.append(Call(unlock, lambda server=server: env.cloud.unlock(server)))
            elif server.status in LOST or (not server.busy and _unkept(action, server, env)):
                if server.task != "deleting":
                    call = Call(server.id, lambda server=server: env.cloud.delete(server))
                    step.calls.append(call)
            elif not server.busy and server.status in KEPT:
                call = Call(server.id, lambda server=server: env.cloud.shelve(server))
                step.calls.append(call)
            over = False
        return None if over and not still_claiming(action, seen, env) else step

    def close(self, action, jobs, env):
        job = jobs[action.job]
        job.state, job.tier, job.saved = action.plan["then"], None, False
        job.reason = action.plan["reason"]
        if job.state in OVER:
            job.stop(action.plan["at"])
            job.finished_at = action.plan["at"]
        else:
            job.begin_anew()
            job.requeues += 1
        return [Note(job.number, job.state, job.reason)]


def _unkept(action, server, env) -> bool:
    """Whether a server at rest is deleted, although it was to be kept: it cannot be shelved."""
    if server.status in KEPT:
        return tried(action, server.id) >= env.attempts
    return server.status != LEAVING
