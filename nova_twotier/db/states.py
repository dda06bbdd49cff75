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


#: Nothing happens to a job any more in these.
OVER = (JobState.FINISHED, JobState.FAILED, JobState.CANCELLED)


class Preemption(StrEnum):
    """What becomes of a job that is preempted."""

    SHELVE = "shelve"  # its disks are kept, its hosts are free
    SUSPEND = "suspend"  # its memory is kept, on its hosts
    REQUEUE = "requeue"  # it begins anew


class QueueMode(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"  # nothing starts, nothing is preempted; what runs goes on
    DRAINING = "draining"  # no job is taken; those in the queue go on as ever


class ActionKind(StrEnum):
    EVICT = "evict"
    SWAP = "swap"
    MIGRATE = "migrate"
    START = "start"
    POWER_ON = "power on"
    END = "end"


class ActionState(StrEnum):
    EXPECTED = "expected"  # recorded; begun or not
    DONE = "done"  # its effect was observed
    FAILED = "failed"  # given up, and undone
