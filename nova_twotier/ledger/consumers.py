"""Reads Placement's consumers (VMs and jobs), and changes several in one transaction."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from nova_twotier.ledger import names
from nova_twotier.ledger.placement import (
    Conflict,
    NotFound,
    Placement,
    PlacementError,
    StaleGeneration,
)
from nova_twotier.ledger.retry import until_fresh

NOBODY: Mapping[str, str] = MappingProxyType({})

#: Resources that a consumer holds, by provider.
Allocations = Mapping[str, Mapping[str, int]]
#: From a consumer's present allocations to the new ones.
Change = Callable[[Allocations], Allocations]


def read(placement: Placement, consumer: str) -> dict[str, dict[str, int]]:
    """Resources that a consumer holds, by provider; empty if it holds nothing."""
    return _resources(placement.get(f"/allocations/{consumer}"))


def read_provider(placement: Placement, provider: str) -> dict[str, dict[str, int]]:
    """Resources that consumers hold of a provider, by consumer; empty without such a provider."""
    try:
        return _resources(placement.get(f"/resource_providers/{provider}/allocations"))
    except NotFound:
        return {}


def rewrite(
    placement: Placement,
    changes: Mapping[str, Change],
    places: Mapping[str, str],
    new: Mapping[str, str] = NOBODY,
    owner: Mapping[str, str] = NOBODY,
    each: Callable[..., Iterable[Mapping]] = map,
) -> None:
    """Change consumers in one transaction; repeated from a fresh read after a concurrent change.

    :param places: names of providers for error messages, by uuid.
    :param new: type, project and user of consumers that hold nothing yet; VMs always hold some.
    :param owner: type, project and user for all of the consumers, replacing their present ones.
    :param each: as `map`; it may read several consumers at the same time.
    :raises StaleGeneration: if others changed them at every attempt.
    :raises Conflict: if there is no room; the message says where.
    :raises NotFound: if there is no such provider; the message says which.
    """

    def write() -> None:
        body = {}
        present = each(placement.get, [f"/allocations/{consumer}" for consumer in changes])
        for (consumer, change), current in zip(changes.items(), present, strict=True):
            before = _resources(current)
            after = change(before)
            if before or after:
                body[consumer] = {
                    "allocations": {
                        provider: {"resources": dict(resources)}
                        for provider, resources in after.items()
                    },
                    **(
                        _identity(current)
                        if before
                        else {**(new or {}), "consumer_generation": None}
                    ),
                    **owner,
                }
        if body:
            placement.post("/allocations", body)

    try:
        until_fresh(write)
    except StaleGeneration:
        raise
    except PlacementError as error:
        raise _named(error, places) from error


def _named(error: PlacementError, places: Mapping[str, str]) -> PlacementError:
    """The same error with the name of the provider, for which Placement gives only the uuid."""
    for provider, place in places.items():
        if provider in str(error):
            if isinstance(error, Conflict):
                return Conflict(f"no room on {place}: {error}", error.status)
            if error.status == 400:
                return NotFound(f"there is no {place} in the ledger: {error}", 404)
    return error


def _resources(answer: Mapping) -> dict[str, dict[str, int]]:
    return {
        holder: dict(allocation["resources"])
        for holder, allocation in answer["allocations"].items()
    }


def _identity(current: Mapping) -> dict:
    kind = current["consumer_type"]
    return {
        "project_id": current["project_id"],
        "user_id": current["user_id"],
        "consumer_generation": current["consumer_generation"],
        # Nova claims without a type; Placement shows "unknown" then, but does not accept it back.
        "consumer_type": names.VM_CONSUMER if kind == "unknown" else kind,
    }
