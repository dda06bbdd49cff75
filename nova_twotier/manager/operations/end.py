"""Clean up after a job: delete its servers and its server group, and release its entry."""

from nova_twotier.ledger import claims
from nova_twotier.manager.db.models import OVER, JobState
from nova_twotier.manager.operations.operation import (
    Call,
    Note,
    Operation,
    Step,
    done,
    still_claiming,
)


class End(Operation):
    """Leads to the state that the plan names: over, or queued once more from the beginning."""

    def begin(self, action, jobs):
        jobs[action.job].state = JobState.ENDING

    def advance(self, action, jobs, seen, env):
        job = jobs[action.job]
        if gang := seen.gang(job):
            # A delete may be repeated, also of a server that Nova is busy with.
            return Step(
                [
                    Call(server.id, lambda server=server: env.cloud.delete(server.id))
                    for server in gang
                    if server.task != "deleting"
                ]
            )
        if still_claiming(action, seen):
            return Step()
        env.cloud.delete_server_group(job.uuid)
        claims.release(env.placement, job.uuid)
        return done()

    def close(self, action, jobs, env):
        job = jobs[action.job]
        job.state, job.tier, job.saved = action.plan["then"], None, False
        job.reason = action.plan["reason"]
        if job.state in OVER:
            job.finished_at = action.plan["at"]
        return [Note(job.number, job.state, job.reason)]
