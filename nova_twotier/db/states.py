"""The states and kinds that the tables' text columns hold."""

from enum import StrEnum


class JobState(StrEnum):
    """Life of a job; a job that was preempted is queued again, with `saved` set."""

    QUEUED = "queued"
    STARTING = "starting"
    RESTORING = "restoring"
    RUNNING = "running"
    PREEMPTING = "preempting"
    ENDING = "ending"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


#: Final states.
OVER = (JobState.FINISHED, JobState.FAILED, JobState.CANCELLED)
#: All others. Databases find them by the index of the states, but not those that are not over: see
#: `job_counts.not_over`.
OPEN = tuple(state for state in JobState if state not in OVER)


class Preemption(StrEnum):
    """How a job is preempted."""

    SHELVE = "shelve"  # its disks are kept, its hosts are free
    SUSPEND = "suspend"  # its memory is kept, on its hosts
    REQUEUE = "requeue"  # it begins anew


class QueueMode(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"  # nothing starts or is preempted; running jobs continue
    DRAINING = "draining"  # no new job is accepted; the others are served as usual


class ActionKind(StrEnum):
    EVICT = "evict"
    SWAP = "swap"
    MIGRATE = "migrate"
    RELOCATE = "relocate"
    VACATE = "vacate"
    START = "start"
    POWER_ON = "power on"
    END = "end"


class ActionState(StrEnum):
    EXPECTED = "expected"  # recorded; begun or not
    DONE = "done"  # its effect was observed
    FAILED = "failed"  # given up, and undone


#: The requested action that lets a job begin anew.
REQUEUE = "requeue"
#: And to end as finished.
COMPLETE = "complete"
