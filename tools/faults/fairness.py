"""How long a job waits although slots are idle."""

from collections import Counter
from collections.abc import Set

from nova_twotier.core.actions import Tier
from nova_twotier.db.states import JobState
from nova_twotier.tools.replay.player import Player

#: Samples of the replay within which such a job starts. They are a second apart, or more on a busy
#: machine, on which the manager takes longer, too; and so do boots.
PATIENCE = 15


class Fairness:
    """The longest time without a break for which a waiting job fitted into the idle foreground.

    Such a job starts at once under the policies of the family `cmbf`.

    :param left_out: names of jobs that do not count.
    :ivar longest: in seconds.
    """

    def __init__(self, left_out: Set[str] = frozenset()):
        self._left_out = left_out
        #: Since when a job has waited so, and for how many samples.
        self._waits: dict[int, tuple[float, int]] = {}
        self.longest = 0.0
        self.stalled: dict[str, int] = {}

    def problems(self) -> list[str]:
        return [
            f"{job} waited for {samples} samples beside idle slots that it fits into"
            for job, samples in self.stalled.items()
        ]

    def see(self, player: Player) -> None:
        sample = player.sample
        if sample is None:
            return
        used = Counter(
            claim.host for held in sample.claims.values() for claim in held if claim.tier is Tier.FG
        )
        idle = sum(max(0, host.shape.slots - used[host.name]) for host in sample.hosts)
        idle -= sum(job.size for job in player.poll.jobs.values() if job.state == JobState.STARTING)
        fits = {
            job.number: job
            for job in player.poll.waiting
            if job.size <= idle
            and not job.held
            and job.not_before <= sample.at
            and job.name not in self._left_out
        }
        waits = {}
        for number, job in fits.items():
            since, samples = self._waits.get(number, (sample.at, -1))
            waits[number] = since, samples + 1
            self.longest = max(self.longest, sample.at - since)
            if samples + 1 > PATIENCE:
                self.stalled[job.name] = samples + 1
        self._waits = waits
