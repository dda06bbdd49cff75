"""Arrangements of foreground and background jobs on the CPUs that are measured."""

from collections.abc import Sequence
from dataclasses import dataclass

Cpus = tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """How the CPUs are divided among jobs; every process has a CPU of its own in its tier.

    :param spread: each foreground process is a job of its own; else all are one job.
    :param parallel: the background job has a process on each CPU; else one on the first.
    """

    name: str
    summary: str
    spread: bool
    parallel: bool

    def foreground(self, cpus: Sequence[int]) -> list[Cpus]:
        """The CPUs of each foreground job."""
        return [(cpu,) for cpu in cpus] if self.spread else [tuple(cpus)]

    def background(self, cpus: Sequence[int]) -> Cpus:
        """The CPUs of the background job."""
        return tuple(cpus) if self.parallel else (cpus[0],)


LAYOUTS = {
    each.name: each
    for each in (
        Layout("single", "a single process below one process of a job", False, False),
        Layout("parallel", "a parallel job below another one", False, True),
        Layout("spread", "a parallel job below as many jobs of one process", True, True),
    )
}


def possible(cpus: Sequence[int]) -> list[Layout]:
    """The layouts that these CPUs allow: parallel jobs need two."""
    return [each for each in LAYOUTS.values() if len(cpus) > 1 or not each.parallel]
