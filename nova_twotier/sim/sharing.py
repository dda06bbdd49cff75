"""Fair share in the simulator: places jobs in the queue by what their owners have used lately."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from nova_twotier.core.actions import Action, Evict, Kill, Move, Start, Tier
from nova_twotier.core.fair_share import FairShare, Uses
from nova_twotier.core.jobs import Job


class Sharing:
    """Follows a run; as the queue manager, it places each job once, when it arrives.

    :param owners: of the jobs, by number; a job without owner is placed by its arrival.
    :param slots: of the cluster, in one tier.
    """

    def __init__(self, rule: FairShare, owners: Mapping[int, str], slots: int):
        self._uses = Uses(rule)
        self._owners = owners
        self._slots = slots
        #: The tiers of the running jobs, by number.
        self._tiers: dict[int, Tier] = {}

    def place(self, job: Job) -> Job:
        """The job with its offset, as policies are shown it from its arrival on."""
        owner = self._owners.get(job.number)
        if owner is None:
            return job
        offset = self._uses.offset(owner, self._slots, job.arrival)
        return replace(job, offset=offset) if offset else job

    def carried_out(self, actions: Iterable[Action], now: float) -> None:
        """The jobs have taken and left slots, as a decision says."""
        for action in actions:
            if isinstance(action, Move):
                self.left(action.job, now)
                self._hold(action.job, action.tier, now)
            elif isinstance(action, Start):
                self._hold(action.job, action.tier, now)
            elif isinstance(action, Evict | Kill):
                self.left(action.job, now)

    def left(self, job: Job, now: float) -> None:
        """A job has left its slots."""
        tier = self._tiers.pop(job.number)
        if (owner := self._owners.get(job.number)) is not None:
            self._uses.hold(owner, tier, -job.size, now)

    def _hold(self, job: Job, tier: Tier, now: float) -> None:
        self._tiers[job.number] = tier
        if (owner := self._owners.get(job.number)) is not None:
            self._uses.hold(owner, tier, job.size, now)
