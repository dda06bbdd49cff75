"""Mends all that does not agree, look by look, until a look finds nothing more to mend."""

from collections.abc import Container
from dataclasses import dataclass, field

from nova_twotier.conf import ConfigError
from nova_twotier.ledger.placement import PlacementError
from nova_twotier.manager.audit.findings import Finding, Kind, Seat
from nova_twotier.manager.audit.mending import Left, Mender
from nova_twotier.manager.audit.reading import Reader, lasting
from nova_twotier.manager.cloud_errors import CloudError

#: What belongs together: after something of a phase was mended, the next is looked at anew.
PHASES = (
    (Kind.STRAY_HOST, Kind.WRONG_SLOTS),
    (Kind.ORPHAN_CLAIM, Kind.ORPHAN_ENTRY, Kind.MISSING_ENTRY, Kind.WRONG_ENTRY),
    (Kind.DOUBLE_CLAIM, Kind.WRONG_HOST, Kind.WRONG_TIER, Kind.MISSING_CLAIM),
    (Kind.WRONG_POINTS, Kind.WRONG_CLOSED),
)
#: One for each phase, and some in which a closed slot that was opened lets a VM in.
LOOKS = 3 * len(PHASES)


@dataclass(slots=True)
class Report:
    """What was mended, and what was left, with the reason.

    :param trouble: what ended the repair before its time, if anything; what is left is not known
        then.
    """

    mended: list[Finding] = field(default_factory=list)
    left: list[tuple[Finding, str]] = field(default_factory=list)
    trouble: Exception | None = None


def repair(reader: Reader, kinds: Container[Kind], pause: float) -> Report:
    """
    :param kinds: mend only these.
    :param pause: seconds between the two looks of each finding.
    :raises ConfigError, CloudError, PlacementError: if the database, Nova or Placement does not
        answer before anything is mended. Later it is the report's trouble; repeat it.
    """
    report = Report()
    try:
        _look_by_look(reader, kinds, pause, report)
    except (ConfigError, CloudError, PlacementError) as error:
        if not report.mended:
            raise
        report.left, report.trouble = [], error
    return report


def _look_by_look(reader: Reader, kinds: Container[Kind], pause: float, report: Report) -> None:
    for _look in range(LOOKS):
        state, found = lasting(reader.state, pause)
        report.left = []
        mender = Mender(reader, state)
        for phase in PHASES:
            chosen = [each for each in found if each.kind in phase and each.kind in kinds]
            if _mend(mender, chosen, report):
                break
        else:
            return
    _state, found = lasting(reader.state, pause)
    known = {finding for finding, _reason in report.left}
    report.left += [
        (finding, f"gave up after {LOOKS} looks")
        for finding in found
        if finding.kind in kinds and finding not in known
    ]


def _mend(mender: Mender, findings: list[Finding], report: Report) -> bool:
    """Mend findings one by one, and those that found no place once more all together.

    :return: whether any was mended.
    """
    before, reasons, homeless = len(report.mended), {}, {}
    for finding in findings:
        if finding in report.mended:
            reasons[finding] = "it was mended, and is there again: who changes it?"
            continue
        try:
            mender.mend(finding)
            report.mended.append(finding)
        except Left as reason:
            holder = isinstance(finding.fix, Seat) and finding.fix.before
            (homeless if holder else reasons)[finding] = str(reason)
    report.mended += _exchange(mender, homeless)
    report.left += [*reasons.items(), *homeless.items()]
    return len(report.mended) > before


def _exchange(mender: Mender, homeless: dict[Finding, str]) -> list[Finding]:
    """VMs that hold each other's places: all at once or, if one has no place at all, by host.

    :param homeless: those that are mended are taken out.
    """
    mended = []
    hosts = sorted({finding.fix.host for finding in homeless})
    for chosen in (set(hosts), *({host} for host in hosts)):
        group = [finding for finding in homeless if finding.fix.host in chosen]
        if len(group) < 2:
            continue
        try:
            mender.exchange(group)
        except Left:
            continue  # each has a reason of its own
        mended += group
        for finding in group:
            del homeless[finding]
    return mended
