"""Change the tiers of jobs in place: one transaction of the ledger for all that swap in a pass."""

from nova_twotier.core.actions import Tier
from nova_twotier.core.slots import is_hot
from nova_twotier.ledger import claims, names
from nova_twotier.ledger.placement import Conflict, PlacementError, StaleGeneration
from nova_twotier.manager.operations.operation import (
    Note,
    Operation,
    done,
    failed,
    overdue,
    told,
)

#: What the owners are told of a conflict; Placement's text names hosts and servers of others.
TAKEN = "a slot that it was to get was taken meanwhile"


class Swap(Operation):
    def advance(self, action, jobs, seen, env):
        items = action.plan["swaps"]
        self._reopen(items, jobs, seen, env)
        swaps = [
            claims.Swap(
                item["uuid"],
                item["size"],
                Tier(item["tier"]),
                tuple(item["vms"]),
                pool=jobs[item["number"]].pool,
            )
            for item in items
        ]
        try:
            claims.swap(env.placement, seen.hosts, swaps, **names.JOB_OWNER)
        except PlacementError as error:
            passing = isinstance(error, StaleGeneration) or not isinstance(error, Conflict)
            if passing and not overdue(action, env):
                raise
            return failed(action, str(error), TAKEN)
        return done()

    def _reopen(self, items, jobs, seen, env):
        """Open the slots that hot processes leave: those that come down may take their places."""
        closed = seen.closed(jobs.values(), env.threshold)
        for item in items:
            if item["tier"] != Tier.BG:
                continue
            job = jobs[item["number"]]
            for server in seen.gang(job):
                claim = seen.claims.get(server.id)
                if claim and server.id in item["vms"] and claim.tier is Tier.FG:
                    closed[claim.host] -= is_hot(job.cpu[server.index], env.threshold)
        env.close(closed)

    def close(self, action, jobs, env):
        notes = []
        for item in action.plan["swaps"]:
            job = jobs[item["number"]]
            job.tier = item["tier"]
            if item["vms"]:
                job.reset_backoff()
                job.swaps += 1
                job.swapped_at = env.now
                by = f", preempted by {item['by']}" if item["by"] else ""
                detail = f"{len(item['vms'])} of {job.size} processes to {job.tier}{by}"
                notes.append(Note(job.number, "swapped", detail))
        return notes

    def undo(self, action, jobs, env):
        notes = []
        for item in action.plan["swaps"]:
            jobs[item["number"]].back_off(env.now)
            notes.append(Note(item["number"], "not swapped", told(action)))
        return notes
