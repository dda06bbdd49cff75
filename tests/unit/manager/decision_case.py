"""Decisions on two hosts, from what is seen."""

import testtools

from nova_twotier.core import policies
from nova_twotier.db.states import JobState
from nova_twotier.manager.decision import Decisions
from nova_twotier.manager.network import Network
from nova_twotier.manager.situation import Situation
from tests.unit.manager.builders import hosts, job, options, seen


def waiting(**values):
    return job(state=JobState.QUEUED, tier=None, **values)


class DecisionCase(testtools.TestCase):
    """Hosts `a` and `b` of one slot each."""

    def decisions(self, policy="amcbf", **changes):
        chosen = policies.get(policy)
        return Decisions(chosen, options(**changes), Network(chosen, placement=None))

    def ask(self, decisions, jobs, *gangs, now=1000.0, opened=(), levels=2, **look):
        """Kind and job of what is decided."""
        look = {"where": hosts("ab", slots=1, tiers=levels), **look}
        look = seen(*gangs, at=now, **look)
        acted_on = {action.job for action in opened}
        plain_waiting = {
            one.number: one
            for one in jobs
            if one.plain_waiting
            and one.not_before <= now
            and one.uuid not in look.servers
            and one.number not in acted_on
        }
        present = Situation({one.number: one for one in jobs}, opened, look, now, plain_waiting)
        records = decisions.decide(present)
        return [(record.kind, record.job) for record in records]
