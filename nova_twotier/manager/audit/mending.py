"""Mends one finding at a time, and only if a fresh read says that it is still there."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping

from nova_twotier.ledger import claims, consumers, names, tree
from nova_twotier.ledger.placement import PlacementError, PlacementUnavailable
from nova_twotier.manager.audit.findings import (
    Close,
    Drop,
    Enter,
    Finding,
    Points,
    Release,
    Seat,
    Sync,
)
from nova_twotier.manager.audit.reading import Reader, tier_hosts
from nova_twotier.manager.audit.state import ENDED, State

CHANGED = "it has changed meanwhile"


class Left(Exception):
    """A finding that is not mended; the message says why."""


class Mender:
    """Mends findings of one look.

    :param state: what the findings were found in.
    """

    def __init__(self, reader: Reader, state: State):
        self._reader, self._state = reader, state
        self._placement = reader.placement
        self._hosts = {host.name: host for host in tier_hosts(state.hosts)}
        #: What each provider of ours is to people.
        self._places = {
            uuid: f"{host.name} in {tier}"
            for host in self._hosts.values()
            for tier, uuid in host.provider.items()
        }
        self._synced = False

    def mend(self, finding: Finding) -> None:
        """:raises Left: if it is not mended, or not wholly; Placement refused, or it has changed.
        :raises CloudError, PlacementUnavailable: if Nova or Placement does not answer.
        """
        if finding.fix is None:
            raise Left(finding.repair.removeprefix("nothing: "))
        with _refusals():
            self._do(finding.fix)

    def exchange(self, findings: list[Finding]) -> None:
        """Mend seats of VMs that hold each other's place, all in one transaction, or none.

        :raises Left: if that is not possible either.
        """
        with _refusals():
            self._rewrite(dict(self._seat(finding.fix) for finding in findings))

    @functools.singledispatchmethod
    def _do(self, fix) -> None:
        raise TypeError(f"no way to mend by {fix}")

    @_do.register
    def _(self, _fix: Sync) -> None:
        if not self._synced:
            shapes = self._reader.shapes()
            tree.prepare(self._placement, {shape.pool for shape in shapes.values()})
            tree.sync_hosts(self._placement, shapes, thorough=True)
            self._synced = True

    @_do.register
    def _(self, fix: Drop) -> None:
        nova = self._reader.nova
        moved = nova.vm(fix.moved) if fix.moved else None
        if moved:
            migration = nova.migrations(moved.id).get(fix.consumer)
            own = consumers.read(self._placement, moved.id).keys() & self._places.keys()
            if not migration or migration.status not in ENDED or (moved.hosts and not own):
                raise Left(CHANGED)
        elif nova.vm(fix.consumer):
            raise Left("a server of this uuid lives")
        self._rewrite({fix.consumer: lambda _held: {}})

    @_do.register
    def _(self, fix: Release) -> None:
        job = self._reader.jobs().get(fix.job)
        if job and (job.tier or job.under_way):
            raise Left(CHANGED)
        claims.release(self._placement, fix.job)

    @_do.register
    def _(self, fix: Enter) -> None:
        job = self._reader.jobs().get(fix.job)
        if job is None or job.under_way or (job.size, job.tier) != (fix.size, fix.tier):
            raise Left(CHANGED)
        # Here, because without a database its libraries need not be there.
        from nova_twotier.manager.operations.operation import OWNER

        claims.admit(
            self._placement, fix.job, fix.size, fix.tier, **OWNER, links=fix.links, pool=fix.pool
        )

    @_do.register
    def _(self, fix: Seat) -> None:
        vm = self._state.vms[fix.vm]
        owner = {
            "project_id": vm.project,
            "user_id": vm.user,
            "consumer_type": names.VM_CONSUMER,
        }
        self._rewrite(dict([self._seat(fix)]), owner)

    @_do.register
    def _(self, fix: Points) -> None:
        self._same_vm(fix.vm)
        before = self._providers(fix.before)

        def change(held):
            self._same(held, before)
            return {
                provider: _slot(fix.points) if provider in before else resources
                for provider, resources in held.items()
            }

        self._rewrite({fix.vm: change})

    @_do.register
    def _(self, fix: Close) -> None:
        host = self._hosts[fix.host]
        now = claims.read_claims(self._placement, [host])
        then = {
            consumer: on_host
            for consumer, held in self._state.claims.items()
            if (on_host := [claim for claim in held if claim.host == fix.host])
        }
        if now != then:
            raise Left(CHANGED)
        shaped = tree.TierHost(host.name, self._state.shapes[fix.host], host.provider)
        tree.set_closed(self._placement, shaped, fix.closed)

    def _seat(self, fix: Seat) -> tuple[str, Callable]:
        """The change that gives a VM its one slot, for `consumers.rewrite`."""
        self._same_vm(fix.vm)
        before = self._providers(fix.before)
        points = max((claim.cpu_points for claim in fix.before), default=0)
        seat = self._hosts[fix.host].provider.get(fix.tier)
        if seat is None:
            raise Left(f"{fix.host} has no slots in {fix.tier}")

        def change(held):
            self._same(held, before)
            rest = {
                provider: resources
                for provider, resources in held.items()
                if provider not in before
            }
            return {**rest, seat: _slot(points)}

        return fix.vm, change

    def _same_vm(self, uuid: str) -> None:
        if self._reader.nova.vm(uuid) != self._state.vms[uuid]:
            raise Left(CHANGED)

    def _same(self, held: Mapping, before: set[str]) -> None:
        """Whether a VM still holds exactly what it was found to hold."""
        if held.keys() & self._places.keys() != before:
            raise Left(CHANGED)

    def _providers(self, held: tuple[claims.Claim, ...]) -> set[str]:
        return {self._hosts[claim.host].provider[claim.tier] for claim in held}

    def _rewrite(
        self, changes: Mapping[str, Callable], new: Mapping[str, str] = consumers.NOBODY
    ) -> None:
        consumers.rewrite(self._placement, changes, self._places, new)


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    """What Placement refuses is left, and does not keep others from being mended.

    :raises Left: for what is refused.
    """
    try:
        yield
    except PlacementUnavailable:
        raise
    except PlacementError as error:
        raise Left(str(error)) from error


def _slot(points: int) -> dict[str, int]:
    return {names.SLOT: 1, **({names.CPU: points} if points else {})}
