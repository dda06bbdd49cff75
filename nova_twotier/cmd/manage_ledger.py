"""`twotier-manage ledger ...`: shows, makes, verifies and repairs the ledger in Placement."""

import argparse
import contextlib
import functools
import itertools
import math
import pathlib
import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from nova_twotier.audit.comparison import compare_hosts
from nova_twotier.audit.findings import Finding, Kind
from nova_twotier.audit.nova import Nova
from nova_twotier.audit.reading import Reader, lasting
from nova_twotier.audit.repair import repair
from nova_twotier.client import output
from nova_twotier.cloud.listing import AT_ONCE, Lister
from nova_twotier.cloud.sessions import placement_for, session_for
from nova_twotier.cmd import extras
from nova_twotier.conf import ConfigError
from nova_twotier.core.actions import Tier
from nova_twotier.ledger import tree
from nova_twotier.ledger.claims import Claim
from nova_twotier.ledger.inventory import HostSlots, TierSlots

#: Exit code if there are findings.
FINDINGS = 1
#: What `repair` is for. It needs a stopped manager, which alone lets jobs that lack servers begin
#: anew, once it is back.
REPAIRED = [str(kind) for kind in Kind if kind is not Kind.MISSING_SERVER]

Rows = tuple[list[dict], int]


class ManagerRuns(Exception):
    """The command needs a stopped queue manager; the message says where one runs."""


def add_parser(nouns) -> None:
    """The commands, each with `run(conf, options)` that returns rows and exit code."""
    parser = nouns.add_parser("ledger", help="who holds which tier of which host, in Placement")
    verbs = parser.add_subparsers(required=True, metavar="sync|show|verify|repair")
    sync = _verb(
        verbs, "sync", _sync, "make the hosts' slots as the host aggregates say", "in order"
    )
    _dry_run(sync)
    show = _verb(verbs, "show", _show, "the slots of each host", "nothing in the ledger")
    show.add_argument("--jobs", action="store_true", help="the jobs' entries instead")
    verify = _verb(
        verbs,
        "verify",
        _verify,
        "compare Placement, Nova and the manager's database; exit code 1 if they do not agree",
        "no findings",
    )
    repair = _verb(
        verbs,
        "repair",
        _repair,
        "repair what verify finds, while the queue manager is stopped (jobs go on); exit code 1 if "
        "something is left",
        "nothing to repair",
    )
    _dry_run(repair)
    repair.add_argument(
        "--kind",
        action="append",
        choices=REPAIRED,
        metavar="KIND",
        help=f"repair only this, may be repeated: {', '.join(REPAIRED)}",
    )
    repair.add_argument(
        "--manager-is-stopped",
        action="store_true",
        help="it is stopped on all machines; needed if its database is on a server, and "
        "[coordination]backend_url is a file",
    )
    for verb in (verify, repair):
        verb.add_argument(
            "--no-database",
            action="store_true",
            help="there is no queue manager: compare Placement with Nova only",
        )
        verb.add_argument(
            "--pause",
            type=_seconds,
            default=2.0,
            metavar="SECONDS",
            help="between the two polls at which a finding must show (default: 2)",
        )


def _verb(verbs, name: str, run, text: str, nothing: str) -> argparse.ArgumentParser:
    """:param nothing: what to print if there are no rows."""
    verb = verbs.add_parser(name, help=text, description=text)
    verb.add_argument(
        "-f", "--format", choices=output.FORMATS, default="table", help="default: table"
    )
    verb.set_defaults(run=run, nothing=nothing)
    return verb


def _dry_run(verb) -> None:
    verb.add_argument("--dry-run", action="store_true", help="only say what would be done")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, such as 2")
    return seconds


def _reader(conf, jobs=None) -> Reader:
    session, options = session_for(conf, "nova")
    nova = Nova(session, **options)
    # Its threads end with the command.
    lister = Lister(ThreadPoolExecutor(AT_ONCE))
    return Reader(placement_for(conf), nova, nova.shapes, jobs, conf.manager.threshold, lister)


def _sync(conf, options) -> Rows:
    reader = _reader(conf)
    found = sorted(compare_hosts(reader.hosts()), key=lambda finding: finding.subject)
    if options.dry_run:
        return [_row(finding) for finding in found], FINDINGS if found else 0
    shapes = reader.shapes()
    tree.prepare(reader.placement, {shape.pool for shape in shapes.values()})
    tree.sync_hosts(reader.placement, shapes, thorough=True, each=reader.each)
    left = list(compare_hosts(reader.hosts()))
    return [
        _row(finding, "left" if finding in left else "done") for finding in found
    ], FINDINGS if left else 0


def _show(conf, options) -> Rows:
    reader = _reader(conf)
    if options.jobs:
        return _jobs(reader), 0
    state = reader.hosts()
    held = {}
    for claim in itertools.chain.from_iterable(reader.held(state.hosts).values()):
        held.setdefault(claim.host, []).append(claim)
    return [
        _host(state.hosts.get(name, HostSlots(name)), held.get(name, ()), state.shapes.get(name))
        for name in sorted(state.hosts.keys() | state.shapes.keys())
    ], 0


def _host(host: HostSlots, held: Sequence[Claim], shape: tree.Shape | None) -> dict:
    fg, bg = (host.tiers.get(tier, TierSlots("")) for tier in (Tier.FG, Tier.BG))
    return {
        "host": host.name,
        "slots": host.slots,
        "tiers": host.tiers_a_slot,
        "fg_used": sum(claim.tier is Tier.FG for claim in held),
        "fg_total": fg.total,
        "bg_used": sum(claim.tier is Tier.BG for claim in held),
        "bg_total": bg.total,
        "closed": host.closed,
        "cpu_points": sum(claim.cpu_points for claim in held),
        "pool": shape.pool if shape else "",
        "switch": shape.switch if shape else "(in no aggregate)",
    }


def _jobs(reader: Reader) -> list[dict]:
    servers = {}
    for vm in reader.nova.vms().values():
        servers[vm.job] = servers.get(vm.job, 0) + 1
    return [
        {
            "job": entry.uuid,
            "tier": str(entry.tier),
            "size": entry.size,
            "links": ", ".join(f"{link} {mbps}" for link, mbps in sorted(entry.links.items())),
            "vms": servers.get(entry.uuid, 0),
        }
        for entry in reader.entries().values()
    ]


def _verify(conf, options) -> Rows:
    records, store = _records(conf, options)
    reader = _reader(conf, _job_reader(conf, records, store))
    _state, found = lasting(reader.state, options.pause)
    if store is not None:
        lease = conf.coordination.lease
        options.notes = records.missing_managers(store, conf.manager.pools, lease)
    return [_row(finding) for finding in found], FINDINGS if found else 0


def _repair(conf, options) -> Rows:
    kinds = set(options.kind or REPAIRED)
    if not options.dry_run:
        _require_stopped(conf, options)
    reader = _reader(conf, _job_reader(conf, *_records(conf, options)))
    if options.dry_run:
        _state, found = lasting(reader.state, options.pause)
        chosen = [finding for finding in found if finding.kind in kinds]
        return [_row(finding) for finding in chosen], FINDINGS if chosen else 0
    with _alone(conf, options, reader):
        report = repair(reader, kinds, options.pause)
    options.trouble = report.trouble
    rows = [
        *(_row(finding, f"done: {finding.repair}") for finding in report.repaired),
        *(_row(finding, f"left: {reason}") for finding, reason in report.left),
    ]
    return rows, FINDINGS if report.left else 0


def _row(finding: Finding, repaired: str | None = None) -> dict:
    return {
        "kind": str(finding.kind),
        "subject": finding.subject,
        "is": finding.found,
        "should be": finding.wanted,
        "repair": repaired or finding.repair,
    }


def _records(conf, options):
    """The module that reads the manager's database, and the database; None without a manager."""
    if options.no_database:
        return None, None
    try:
        from nova_twotier.audit import records
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the manager's database {extras.missing(error, 'manager')}, or give --no-database if "
            "there is no queue manager"
        ) from error
    return records, records.existing_store(conf)


def _job_reader(conf, records, store):
    """A function that reads the jobs of the manager's database; None without a manager."""
    if store is None:
        return None
    return functools.partial(records.job_records, store, conf.coordination.lease)


def _require_stopped(conf, options) -> None:
    """Require that the operator has stopped managers that `_alone` cannot reach.

    Without a coordination service, it reaches no other machines.

    :raises ConfigError: if a manager may run, and the operator has not declared it stopped.
    """
    local = conf.database.connection.startswith("sqlite")
    reached = local or not conf.coordination.backend_url.startswith("file:")
    if not (reached or options.no_database or options.manager_is_stopped):
        raise ConfigError(
            "the manager's database is on a server, so that the queue manager may run on another "
            "machine: stop it everywhere, then give --manager-is-stopped"
        )


@contextlib.contextmanager
def _alone(conf, options, reader: Reader) -> Iterator[None]:
    """Keep all queue managers from leading a pool meanwhile. Jobs continue.

    A manager would write the same entries and claims, based on an earlier read.

    :raises ManagerRuns: if one leads.
    """
    if options.no_database and not pathlib.Path(conf.state_path).is_dir():
        yield  # no manager has ever run here
        return
    # Imported here, because without a manager its libraries need not be installed.
    try:
        from nova_twotier.audit import records
        from nova_twotier.manager import election
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{conf.state_path} is a queue manager's, which {extras.missing(error, 'manager')}, or "
            "remove the directory if there is no manager"
        ) from None

    pools = {*conf.manager.pools, *(shape.pool for shape in reader.shapes().values())}
    store = None if options.no_database else records.existing_store(conf)
    name = f"twotier-manage on {socket.gethostname()}"
    try:
        with election.alone(conf.coordination, store, pools, name):
            yield
    except election.Led as error:
        raise ManagerRuns(str(error)) from error
