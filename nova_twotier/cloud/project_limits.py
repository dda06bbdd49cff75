"""What Nova allows a project at the most, by which a job may be too large ever to start.

Nova itself is asked, in the name of the project: what its configuration says is not what holds for
each project. Limits of single users are not among the answers. 0 may mean that nothing is allowed,
or that Keystone has no such limit, which Nova may be told to ignore: it says nothing here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

#: Nova's names for the limits of a project, in its answer to `/limits`.
_INSTANCES, _CORES, _RAM = "maxTotalInstances", "maxTotalCores", "maxTotalRAMSize"
#: What a flavor counts for, and the extra specs by which it may count for something else.
_AMOUNTS = {
    "cores": (_CORES, "vcpus", ("resources:VCPU", "resources:PCPU")),
    "ram": (_RAM, "ram", ("resources:MEMORY_MB",)),
}


@dataclass(frozen=True)
class Excess:
    """A quota that a job exceeds all by itself."""

    resource: str
    needed: int
    allowed: int


@dataclass(frozen=True)
class ProjectLimits:
    """
    :param absolute: the part `absolute` of Nova's answer; -1 is no limit.
    """

    absolute: Mapping[str, int]

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        return cls(answer["absolute"])

    def exceeded(self, size: int, flavor: Mapping[str, Any] | None) -> Excess | None:
        """The first quota that a job is too large for, if any.

        :param flavor: as Nova shows it, with its extra specs; None: it is not known.
        """
        return next(self._exceeded(size, flavor or {}), None)

    def _exceeded(self, size: int, flavor: Mapping[str, Any]) -> Iterator[Excess]:
        needs = {"instances": (_INSTANCES, size)}
        specs = flavor.get("extra_specs", {})
        for resource, (limit, amount, overrides) in _AMOUNTS.items():
            if not any(each in specs for each in overrides):
                needs[resource] = limit, size * flavor.get(amount, 0)
        for resource, (limit, needed) in needs.items():
            if 0 < (allowed := self.absolute.get(limit, -1)) < needed:
                yield Excess(resource, needed, allowed)
