"""Scheduling policies, one a file, found by the name that the papers give them."""

from typing import Protocol

from nova_twotier.core.actions import Action
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.amcbf import Amcbf
from nova_twotier.core.policies.cmcbf import Cmcbf
from nova_twotier.core.policies.fcfs import Fcfs
from nova_twotier.core.snapshot import Event, Snapshot


class Policy(Protocol):
    """A pure function from a snapshot to a list of actions, and the reason of every wait."""

    name: str

    def schedule(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        """The actions that follow from `event`, in the order in which they can be carried out."""

    def reason(self, snapshot: Snapshot, job: Job) -> str:
        """Why `job` of the queue waits, in words for its owner."""


class UnknownPolicy(ValueError):
    """A policy name that does not exist; the message lists those that do."""


POLICIES: dict[str, type[Policy]] = {policy.name: policy for policy in (Fcfs, Cmcbf, Amcbf)}


def get(name: str) -> Policy:
    """:raises UnknownPolicy: if there is no policy of that name."""
    try:
        return POLICIES[name]()
    except KeyError:
        known = ", ".join(sorted(POLICIES))
        raise UnknownPolicy(f"there is no policy {name!r}; choose one of: {known}") from None
