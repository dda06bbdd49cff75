"""The steps of a pass with tentative runs on a cluster whose network guarantees bandwidth.

JSS 2015 has no network. As in `embedding_pass`, "enough slots" becomes "an embedding", and the
foreground does not wait for links that the background holds. Nothing migrates: whoever cannot keep
its hosts is killed.
"""

from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import FIRST
from nova_twotier.core.policies.embedding_pass import EmbeddingPass
from nova_twotier.core.snapshot import NONE_AWAY


class TentativeEmbeddingPass(EmbeddingPass):
    """The steps of CCFCFS and ACFCFS; what starts out of turn starts on trial."""

    kills = True

    def take_turns(self, aggressive: bool) -> bool:
        """Promote or start jobs by arrival, up to the first for which the foreground has no room.

        JSS 2015, SelectJobs and SelectJobs_Refined. Who is evicted for that has its turn again, or
        stays on its hosts in the background, or is killed (RefineEvictedJobs).

        :param aggressive: whether a job may take the places and links of later ones.
        :returns: whether others may have the slots that are left over.
        """
        away = NONE_AWAY if aggressive else FIRST
        left_over = self._enter_by_arrival(self._turns(), away)
        for run in self.demote(list(self._losing.values())):
            self.kill(run.job)
        return left_over

    def fill_tentatively(self, tier: Tier) -> None:
        """Start waiting jobs for which a tier has room, the smallest first, on trial."""
        for job in self.queue.allowed(tier).smallest_of_each_class():
            if self.cluster.fits(job, tier):
                self.start(job, tier)
                self._tentative.add(job.number)
