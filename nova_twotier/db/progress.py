"""The requests of an action and their outcomes, recorded so that a new leader can continue it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Self


class RequestKey(NamedTuple):
    """What a request to the cloud is about: its purpose, and the server that it is for, if any.

    Requests of an action that have the same key are attempts at the same thing.
    """

    purpose: str
    server: str = ""

    def __str__(self) -> str:
        return f"{self.purpose} {self.server}".rstrip()

    @classmethod
    def parse(cls, text: str) -> Self:
        purpose, _space, server = text.partition(" ")
        return cls(purpose, server)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the cloud refused the start of a job, or to power its servers on again.

    :param public_reason: what the job's owner may read of it; empty: nothing.
    :param unfit: the flavor is not suitable for jobs; no further attempt will succeed.
    :param quota: the project's quota is used up.
    """

    reason: str
    public_reason: str = ""
    unfit: bool = False
    quota: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """
    :param attempts: how often Nova accepted or refused each request; 0 if it has only been sent.
    :param undoing: why the action is being undone; empty while it is not.
    :param public_reason: what the owners of its jobs may read of its failure, where that is less
        than what operators read.
    :param vacated_at: since when servers that were deleted, or that migrated, have still held slots
        that they have left.
    :param booted_at: when a boot was last under way.
    :param was_suspended: the servers that are restored were suspended, not shelved.
    :param refusal: why the cloud refused the job's start, or to start its servers again.
    :param crowded_out: others took the slots or the links that the job was to get.
    :param waited_for: the reason that the job had before it was started.
    :param escalated_at: since when the job's servers are deleted because it could not be saved or
        moved in time.
    :param retry_at: when saving is retried for servers that could not be saved.
    :param off: servers whose guests had ended before any request for them.
    :param acknowledged: servers whose guests have reported that they have saved their work.
    """

    attempts: Mapping[RequestKey, int] = field(default_factory=dict)
    undoing: str = ""
    public_reason: str = ""
    vacated_at: float | None = None
    booted_at: float | None = None
    was_suspended: bool = False
    refusal: Refusal | None = None
    crowded_out: bool = False
    waited_for: str = ""
    escalated_at: float | None = None
    retry_at: float | None = None
    off: tuple[str, ...] = ()
    acknowledged: tuple[str, ...] = ()

    @property
    def servers(self) -> set[str]:
        """The servers that requests were made for."""
        return {key.server for key in self.attempts if key.server}

    def dump(self) -> dict[str, Any]:
        """In JSON, without fields that still have their defaults."""
        data = {
            name: value
            for name, value in asdict(self).items()
            if name != "attempts" and value not in ("", None, False, ())
        }
        attempts = {str(key): count for key, count in self.attempts.items()}
        return data | ({"attempts": attempts} if attempts else {})

    @classmethod
    def load(cls, data: Mapping[str, Any]) -> Self:
        values = dict(data)
        attempts = values.pop("attempts", {})
        values["attempts"] = {RequestKey.parse(key): count for key, count in attempts.items()}
        for name in ("off", "acknowledged"):
            values[name] = tuple(values.get(name, ()))
        if refusal := values.get("refusal"):
            values["refusal"] = Refusal(**refusal)
        return cls(**values)
