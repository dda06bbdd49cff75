"""Reads the shapes of hosts from the metadata of host aggregates.

    twotier:slots        L, the slots of each host; enables the hosts of the aggregate
    twotier:tiers        K, tiers of a slot, 2 if not given
    twotier:switch       path of the hosts' switch from the root, such as core/pod1/edge3
    twotier:uplink_mbps  Mbit/s of the links on the way up, separated by commas: first the host's
                         own, then its switch's, and so on; the last one holds for all above
    twotier:pool         the pool whose jobs run on the hosts, `default` if not given

A host may be in several aggregates, for example one for its slots and one for its rack.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nova_twotier.conf.manager import POOL
from nova_twotier.ledger.names import DEFAULT_POOL
from nova_twotier.ledger.shape import Shape, switches
from nova_twotier.ledger.tree import UNLIMITED

#: A link's provider is named after its switch, and Placement allows 200 characters.
LONGEST_PATH = 180
#: Upper bound of slots and of tiers: 100 CPU points for each place still fit into Placement.
MOST = 4096
_PATH = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)*", re.ASCII)


def shapes(aggregates: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Shape], list[str]]:
    """The hosts that aggregates enable, and a message about each error in the metadata.

    Hosts with an error are left out.

    :param aggregates: in Nova's JSON: `name`, `hosts` and `metadata` of each.
    """
    problems: list[str] = []
    said: dict[str, dict[str, dict[Any, str]]] = {}
    wrong: set[str] = set()
    for aggregate in aggregates:
        for key in KEYS.keys() & aggregate["metadata"].keys():
            parse, expected = KEYS[key]
            text = aggregate["metadata"][key]
            try:
                value = parse(text)
            except ValueError:
                problems.append(
                    f"aggregate {aggregate['name']}: {key} is {text!r}; give {expected}. "
                    "Its hosts are left out"
                )
                wrong.update(aggregate["hosts"])
                continue
            for host in aggregate["hosts"]:
                said.setdefault(host, {}).setdefault(key, {})[value] = aggregate["name"]
    found = {}
    for host, values in sorted(said.items()):
        if "twotier:slots" not in values or host in wrong:
            continue
        problem = _contradiction(host, values)
        if not problem:
            shape = _shape({key: next(iter(each)) for key, each in values.items()})
            problem = _too_many_uplinks(host, shape)
        if problem:
            problems.append(problem)
        else:
            found[host] = shape
    return found, problems


def _shape(values: Mapping[str, Any]) -> Shape:
    return Shape(
        values["twotier:slots"],
        values.get("twotier:tiers", 2),
        values.get("twotier:switch", ""),
        values.get("twotier:uplink_mbps", ()),
        values.get("twotier:pool", DEFAULT_POOL),
    )


def _contradiction(host: str, values: Mapping[str, Mapping[Any, str]]) -> str:
    for key, said in sorted(values.items()):
        if len(said) > 1:
            names = " and ".join(sorted(said.values()))
            return (
                f"host {host}: the aggregates {names} contradict each other in {key}; "
                "make them agree. The host is left out"
            )
    return ""


def _too_many_uplinks(host: str, shape: Shape) -> str:
    links = 1 + len(switches(shape.switch))
    if len(shape.uplinks) <= links:
        return ""
    where = f"twotier:switch={shape.switch}" if shape.switch else "no twotier:switch"
    return (
        f"host {host}: twotier:uplink_mbps gives {len(shape.uplinks)} numbers, but with {where} "
        f"there are {links} links on its way up. The host is left out"
    )


def _amount(text: str) -> int:
    amount = int(text)
    if not 1 <= amount <= UNLIMITED:
        raise ValueError(text)
    return amount


def _count(text: str) -> int:
    count = _amount(text)
    if count > MOST:
        raise ValueError(text)
    return count


def _path(text: str) -> str:
    if not _PATH.fullmatch(text) or len(text) > LONGEST_PATH:
        raise ValueError(text)
    return text


def _pool(text: str) -> str:
    if not re.fullmatch(POOL, text):
        raise ValueError(text)
    return text


def _amounts(text: str) -> tuple[int, ...]:
    return tuple(_amount(each) for each in text.split(","))


#: How each key is read, and what it takes.
KEYS: dict[str, tuple[Callable[[str], Any], str]] = {
    "twotier:slots": (_count, f"a whole number from 1 to {MOST}"),
    "twotier:tiers": (_count, f"a whole number from 1 to {MOST}"),
    "twotier:switch": (
        _path,
        f"names of letters, digits, '_', '.' and '-', joined by '/', at most {LONGEST_PATH} "
        "characters, such as core/pod1/edge3",
    ),
    "twotier:uplink_mbps": (
        _amounts,
        f"whole numbers from 1 to {UNLIMITED} separated by commas, such as 1000,10000",
    ),
    "twotier:pool": (
        _pool,
        "1 to 63 letters, digits, '_', '.' and '-', the first a letter or digit",
    ),
}
