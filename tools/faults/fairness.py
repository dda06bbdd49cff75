"""How long a job waits beside slots that are idle."""

from collections import Counter
from collections.abc import Set

from nova_twotier.core.actions import Tier
from nova_twotier.db.states import JobState
from nova_twotier.tools.replay.player import Player

#: Seconds within which such a job starts, as the samples show it: they are a second apart, and a
#: boot takes some more on a busy machine.
PATIENCE = 15.0


class Fairness:
    """Of the jobs that fit into the idle foreground, the longest time that one did so in a row.

    Such a job starts at once under the policies of the family `cmbf`.

    :param left_out: names of jobs that do not count.
    :ivar longest: in seconds.
    """

    def __init__(self, left_out: Set[str] = frozenset()):
        self._left_out = left_out
        self._since: dict[int, float] = {}
        self.longest = 0.0
        self.job = ""

    def problems(self) -> list[str]:
        if self.longest <= PATIENCE:
            return []
        return [f"{self.job} waited {self.longest:.0f} s beside idle slots that it fits into"]

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
        self._since = {number: self._since.get(number, sample.at) for number in fits}
        for number, since in self._since.items():
            if sample.at - since > self.longest:
                self.longest, self.job = sample.at - since, fits[number].name
