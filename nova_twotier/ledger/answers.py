"""The types of the fields that we read of Placement's responses.

A proxy in Placement's place may answer any JSON. Here it is found to be none of Placement's, once
for all who take answers apart.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple


class Each(NamedTuple):
    """An object with any names, whose values are all of one kind."""

    kind: Any


#: Kinds: a type or several, a list of the kind of all its entries, `Each`, or an object with the
#: kinds of the names that it must have.
_AMOUNTS = Each(int)
_ALLOCATIONS = Each({"resources": _AMOUNTS})
_FIELDS: Mapping[str, Any] = {
    "allocations": _ALLOCATIONS,
    "consumer_generation": (int, type(None)),
    "inventories": Each({"total": int, "reserved": int, "allocation_ratio": (int, float)}),
    "provider_summaries": Each(
        {
            "resources": Each({"capacity": int, "used": int}),
            "traits": [str],
            "root_provider_uuid": str,
        }
    ),
    "resource_provider_generation": int,
    "resource_providers": [
        {
            "uuid": str,
            "name": str,
            "generation": int,
            "parent_provider_uuid": (str, type(None)),
        }
    ],
    "traits": [str],
    "usages": _AMOUNTS,
}


def misfits(answer: Mapping[str, Any]) -> Iterator[str]:
    """The fields of a response that are not of the type that Placement's API gives them."""
    return (
        name for name, kind in _FIELDS.items() if name in answer and not _is(answer[name], kind)
    )


def _is(value: Any, kind: Any) -> bool:
    if isinstance(kind, Each):
        return isinstance(value, dict) and _are(value.values(), kind.kind)
    if isinstance(kind, list):
        return isinstance(value, list) and _are(value, kind[0])
    if isinstance(kind, dict):
        return isinstance(value, dict) and all(
            name in value and _is(value[name], each) for name, each in kind.items()
        )
    return isinstance(value, kind)


def _are(values: Collection[Any], kind: Any) -> bool:
    if isinstance(kind, type):
        # A large cloud lists many thousands of traits, but all of one type.
        return all(issubclass(each, kind) for each in set(map(type, values)))
    return all(_is(each, kind) for each in values)
