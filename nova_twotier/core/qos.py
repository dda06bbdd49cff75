"""Classes of service: which jobs come first, and which only use what is left over.

- `urgent` jobs are ahead of all others in the queue, and preempt as earlier arrivals do.
- `scavenger` jobs are behind all others, run in the background only, and leave it as soon as
  another job could start there without them. They starve while others want the background.

Within a class, the order of the queue is as without classes. A job's place, in seconds, is moved by
more than any two places differ; so whatever orders by place needs to know nothing of classes.
"""

from enum import StrEnum


class Qos(StrEnum):
    """The class of a job, the first one first."""

    URGENT = "urgent"
    NORMAL = "normal"
    SCAVENGER = "scavenger"


#: Shortcuts for code that runs for every event: looking up an enum member takes five times longer.
URGENT, NORMAL, SCAVENGER = Qos.URGENT, Qos.NORMAL, Qos.SCAVENGER

#: Seconds between the places of two classes: 35,000 years. Even a deadline (`Policy.rank`) lies
#: within; and places of one class still differ if they are a quarter of a millisecond apart.
APART = 2.0**40
#: What is added to the place of a job.
SHIFT = {URGENT: -APART, NORMAL: 0.0, SCAVENGER: APART}
#: The number of each class in a trace, as that of its queue.
QUEUES = {URGENT: 1, NORMAL: 2, SCAVENGER: 3}
#: What policies that do not order by place sort by first.
PRECEDENCE = {URGENT: -1, NORMAL: 0, SCAVENGER: 1}
