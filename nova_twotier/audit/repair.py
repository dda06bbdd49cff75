"""Repairs findings one at a time, each only if a fresh read still shows it.

Everything is read anew after each pass, until a pass finds nothing more to repair.
"""

import contextlib
import functools
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field

from nova_twotier.audit.findings import (
    Close,
    Drop,
    Enter,
    Finding,
    Kind,
    Points,
    Release,
    Seat,
    Sync,
)
from nova_twotier.audit.reading import Reader, lasting, tier_hosts
from nova_twotier.audit.state import ENDED, State
from nova_twotier.cloud.errors import CloudError
from nova_twotier.conf import ConfigError
from nova_twotier.ledger import claims, consumers, names, tree
from nova_twotier.ledger.placement import PlacementError, PlacementUnavailable

CHANGED = "it has changed meanwhile"
#: Kinds that are repaired together; after repairs in a phase, the state is read anew.
PHASES = (
    (Kind.STRAY_HOST, Kind.WRONG_SLOTS),
    (Kind.ORPHAN_CLAIM, Kind.ORPHAN_ENTRY, Kind.MISSING_ENTRY, Kind.WRONG_ENTRY),
    (Kind.DOUBLE_CLAIM, Kind.WRONG_HOST, Kind.WRONG_TIER, Kind.MISSING_CLAIM),
    (Kind.MISSING_POINTS, Kind.WRONG_CLOSED, Kind.MISSING_SERVER),
)
#: Upper bound: one pass for each phase, and more in case opened slots make room for VMs.
PASSES = 3 * len(PHASES)


class Left(Exception):
    """A finding that is not repaired; the message says why."""


class Repairer:
    """Repairs findings of one poll.

    :param state: what the findings were found in.
    """

    def __init__(self, reader: Reader, state: State):
        self._reader, self._state = reader, state
        self._placement = reader.placement
        self._hosts = {host.name: host for host in tier_hosts(state.hosts)}
        #: Description of each provider of ours, for messages.
        self._places = {
            uuid: f"{host.name} in {tier}"
            for host in self._hosts.values()
            for tier, uuid in host.provider.items()
        }
        self._synced = False

    def repair(self, finding: Finding) -> None:
        """Repair one finding.

        :raises Left: if it is not, or not fully, repaired: Placement refused, or it has changed.
        :raises CloudError, PlacementUnavailable: if Nova or Placement does not answer.
        """
        if finding.fix is None:
            raise Left(finding.repair.removeprefix("nothing: "))
        with _refusals():
            self._do(finding.fix)

    def exchange(self, findings: list[Finding]) -> None:
        """Repair the claims of VMs that hold each other's places in one transaction.

        :raises Left: if that fails, too; nothing is changed then.
        """
        with _refusals():
            self._rewrite(dict(self._seat(finding.fix) for finding in findings))

    @functools.singledispatchmethod
    def _do(self, fix) -> None:
        raise TypeError(f"no way to repair by {fix}")

    @_do.register
    def _(self, _fix: Sync) -> None:
        if not self._synced:
            shapes = self._reader.shapes()
            tree.prepare(self._placement, {shape.pool for shape in shapes.values()})
            tree.sync_hosts(self._placement, shapes, thorough=True, each=self._reader.each)
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
        claims.admit(
            self._placement,
            fix.job,
            fix.size,
            fix.tier,
            **names.JOB_OWNER,
            links=fix.links,
            pool=fix.pool,
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
        """The change for `consumers.rewrite` that gives a VM its one slot."""
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
        """Check that a VM still holds exactly what the finding says."""
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
    """Translate refusals of Placement, so that the other findings are still repaired.

    :raises Left: for a refusal.
    """
    try:
        yield
    except PlacementUnavailable:
        raise
    except PlacementError as error:
        raise Left(str(error)) from error


def _slot(points: int) -> dict[str, int]:
    return {names.SLOT: 1, **({names.CPU: points} if points else {})}


@dataclass(slots=True)
class Report:
    """The findings that were repaired, and those that were left, with the reasons.

    :param trouble: the error that stopped the repair early, if any; it is unknown then what is
        left.
    """

    repaired: list[Finding] = field(default_factory=list)
    left: list[tuple[Finding, str]] = field(default_factory=list)
    trouble: Exception | None = None


def repair(reader: Reader, kinds: Container[Kind], pause: float) -> Report:
    """
    :param kinds: repair only these.
    :param pause: seconds between the two polls of each finding.
    :raises ConfigError, CloudError, PlacementError: if the database, Nova or Placement does not
        answer before anything is repaired. Later it is the report's trouble; repeat it.
    """
    report = Report()
    try:
        _pass_by_pass(reader, kinds, pause, report)
    except (ConfigError, CloudError, PlacementError) as error:
        if not report.repaired:
            raise
        report.left, report.trouble = [], error
    return report


def _pass_by_pass(reader: Reader, kinds: Container[Kind], pause: float, report: Report) -> None:
    for _pass in range(PASSES):
        state, found = lasting(reader.state, pause)
        report.left = []
        repairer = Repairer(reader, state)
        for phase in PHASES:
            chosen = [each for each in found if each.kind in phase and each.kind in kinds]
            if _repair_phase(repairer, chosen, report):
                break
        else:
            return
    _state, found = lasting(reader.state, pause)
    known = {finding for finding, _reason in report.left}
    report.left += [
        (finding, f"gave up after {PASSES} passes")
        for finding in found
        if finding.kind in kinds and finding not in known
    ]


def _repair_phase(repairer: Repairer, findings: list[Finding], report: Report) -> bool:
    """Repair findings one by one, and those that found no place once more all together.

    :return: whether any was repaired.
    """
    before, reasons, homeless = len(report.repaired), {}, {}
    for finding in findings:
        if finding in report.repaired:
            reasons[finding] = "it was repaired but came back: something keeps changing it"
            continue
        try:
            repairer.repair(finding)
            report.repaired.append(finding)
        except Left as reason:
            holder = isinstance(finding.fix, Seat) and finding.fix.before
            (homeless if holder else reasons)[finding] = str(reason)
    report.repaired += _exchange(repairer, homeless)
    report.left += [*reasons.items(), *homeless.items()]
    return len(report.repaired) > before


def _exchange(repairer: Repairer, homeless: dict[Finding, str]) -> list[Finding]:
    """Exchange VMs that hold each other's places: all at once or, if one has no place, by host.

    :param homeless: findings and their reasons; repaired ones are removed.
    """
    repaired = []
    hosts = sorted({finding.fix.host for finding in homeless})
    for chosen in (set(hosts), *({host} for host in hosts)):
        group = [finding for finding in homeless if finding.fix.host in chosen]
        if len(group) < 2:
            continue
        try:
            repairer.exchange(group)
        except Left:
            continue  # each keeps its own reason
        repaired += group
        for finding in group:
            del homeless[finding]
    return repaired
