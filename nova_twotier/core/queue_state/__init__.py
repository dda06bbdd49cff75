"""The state of a queue at one instant as plain data: what there is to know for a prediction.

The queue manager's operator writes it from a live cloud, and the simulator reads it.
"""

from nova_twotier.core.queue_state.changes import InvalidChange, with_policy
from nova_twotier.core.queue_state.data import InvalidState, dump, load, text
from nova_twotier.core.queue_state.state import (
    Measured,
    QueueJob,
    QueueState,
    Server,
    anonymous,
    past_of,
    present,
)

__all__ = [
    "InvalidChange",
    "InvalidState",
    "Measured",
    "QueueJob",
    "QueueState",
    "Server",
    "anonymous",
    "dump",
    "load",
    "past_of",
    "present",
    "text",
    "with_policy",
]
