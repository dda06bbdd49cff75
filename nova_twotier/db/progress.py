"""The requests of an action and their outcomes, recorded so that a new leader can continue it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Self

from nova_twotier.core import reasons
from nova_twotier.core.reasons import Reason
from nova_twotier.db.as_json import plain


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

    :param detail: for operators: what the cloud said.
    :param unfit: no further attempt will succeed, as with a flavor that is not suitable for jobs.
    """

    reason: Reason
    detail: str = ""
    unfit: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """
    :param attempts: how often Nova accepted or refused each request; 0 if it has only been sent.
    :param undoing: why the action is given up, and undone where it has begun; None while it is not.
    :param detail: for operators: what the cloud said of that.
    :param vacated_at: since when servers that were deleted, or that migrated, have still held slots
        that they have left.
    :param booted_at: when a boot was last under way.
    :param made: how many servers it has made, at least.
    :param was_suspended: the servers that are restored were suspended, not shelved.
    :param refusal: why the cloud refused the job's start, or to start its servers again.
    :param crowded_out: others took the slots or the links that the job was to get.
    :param waited_for: the reason that the job had before it was started.
    :param escalated_at: since when the job's servers are deleted because it could not be saved or
        moved in time.
    :param retry_at: when saving is retried for servers that could not be saved; at an end, until
        when those that were migrated have time to be confirmed.
    :param off: servers whose guests had ended before any request for them.
    :param acknowledged: servers whose guests have reported that they have saved their work.
    """

    attempts: Mapping[RequestKey, int] = field(default_factory=dict)
    undoing: Reason | None = None
    detail: str = ""
    vacated_at: float | None = None
    booted_at: float | None = None
    made: int = 0
    was_suspended: bool = False
    refusal: Refusal | None = None
    crowded_out: bool = False
    waited_for: Reason | None = None
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
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        attempts = {str(key): count for key, count in found.pop("attempts").items()}
        data = {
            name: plain(value)
            for name, value in found.items()
            if value not in ("", None, False, ())
        }
        return data | ({"attempts": attempts} if attempts else {})

    @classmethod
    def load(cls, data: Mapping[str, Any]) -> Self:
        values = dict(data)
        attempts = values.pop("attempts", {})
        values["attempts"] = {RequestKey.parse(key): count for key, count in attempts.items()}
        for name in ("off", "acknowledged"):
            values[name] = tuple(values.get(name, ()))
        for name in ("undoing", "waited_for"):
            if reason := values.get(name):
                values[name] = reasons.load(reason)
        if refusal := values.get("refusal"):
            reason = reasons.load(refusal["reason"])
            values["refusal"] = Refusal(reason, refusal["detail"], refusal["unfit"])
        return cls(**values)
