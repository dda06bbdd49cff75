"""AMCBF in the order of deadlines: arrival plus a multiple of the run time.

The foreground goes to the earliest deadline, so that no job is passed for ever, as long as the
earliest one gets its slots. What nobody has a
right to, the background and the slots that are too few for the earliest job, goes to the shortest
time from arrival to deadline (deadline monotonic: Leung and Whitehead, Performance Evaluation
1982), so short jobs are soon through.
"""

from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.amcbf import Amcbf

#: Run time, in seconds, of a job that names none: a day, so that most gain by naming theirs.
UNKNOWN_RUN_TIME = 86_400.0


class AmcbfDeadline(Amcbf):
    name = "amcbf-deadline"
    summary = "AMCBF by arrival + run time: short jobs pass long ones, and backfill first."
    reorders = True
    shortest_first = True

    def rank(self, job: Job) -> float:
        """The walltime counts before the estimate: it is enforced, so nobody gains by a short one.

        A job that runs longer than its owner's estimate keeps its rank; of one that outruns a
        prediction, whoever predicted it makes another job, with the rank of what is expected then.
        """
        known = job.estimate if job.walltime is None else job.walltime
        return job.arrival + self.factor * (UNKNOWN_RUN_TIME if known is None else known)
