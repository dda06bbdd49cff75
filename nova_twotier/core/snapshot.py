"""What a policy decides upon: the cluster, the queue, and what happened since its last decision."""

import enum
from dataclasses import dataclass

from nova_twotier.core.cluster import Cluster
from nova_twotier.core.jobs import Job


class Event(enum.Flag):
    """What happened; several events of one instant are joined with `|`."""

    ARRIVAL = enum.auto()  # jobs joined the queue
    BACKGROUND = enum.auto()  # background slots became free
    FOREGROUND = enum.auto()  # foreground slots became free, or hosts changed


@dataclass(frozen=True, slots=True)
class Snapshot:
    """State at one instant. A policy reads it and changes nothing.

    :param queue: waiting jobs in order of arrival; those whose state was saved are among them.
    """

    cluster: Cluster
    queue: tuple[Job, ...]

    def __post_init__(self):
        object.__setattr__(self, "queue", tuple(sorted(self.queue, key=lambda job: job.order)))
