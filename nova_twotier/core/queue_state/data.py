"""The state of a queue as JSON has it: versioned, and checked in all its parts when it is read."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nova_twotier.core import policies
from nova_twotier.core.actions import FG, Tier
from nova_twotier.core.cluster import Host
from nova_twotier.core.jobs import MAX_SIZE, UNKNOWN_CPU, InvalidJob, Job
from nova_twotier.core.prediction.present import Past
from nova_twotier.core.qos import NORMAL, Qos
from nova_twotier.core.queue_state.fields import Fields, InvalidState, is_number, shown
from nova_twotier.core.queue_state.state import (
    Measured,
    QueueJob,
    QueueState,
    Server,
    past_of,
)
from nova_twotier.core.slots import THRESHOLD, background_places

FORMAT = "nova-twotier queue state"
#: Goes up when an older release could not read it, or would get it wrong.
VERSION = 1
#: Bounds, so that a typo cannot exhaust memory.
MOST_SLOTS, MOST_TIERS = 100_000, 100


def dump(state: QueueState) -> dict[str, Any]:
    """The state as JSON has it; fields that have their default are left out."""
    names = [host.name for host in state.hosts]
    return {
        "format": FORMAT,
        "version": VERSION,
        "pool": state.pool,
        "at": state.at,
        "policy": state.policy,
        "deadline_factor": state.deadline_factor,
        "threshold": state.threshold,
        "migration_cost": state.cost,
        "hosts": [_host(host, i in state.leaving) for i, host in enumerate(state.hosts)],
        "jobs": [_job(each, names) for each in state.jobs],
        "servers": [
            {"host": names[each.host], "tier": str(each.tier), "cpu": each.cpu}
            for each in state.servers
        ],
        "past": [_past(each) for each in state.past],
        "calibration": None if state.measured is None else _measured(state.measured),
    }


def text(state: QueueState) -> str:
    """The state as a file has it, with a line for each host and job."""
    lines = []
    for name, value in dump(state).items():
        if isinstance(value, list) and value:
            rows = ",\n".join(f"  {json.dumps(each)}" for each in value)
            lines.append(f' "{name}": [\n{rows}\n ]')
        else:
            lines.append(f' "{name}": {json.dumps(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _host(host: Host, leaving: bool) -> dict[str, Any]:
    data: dict[str, Any] = {"name": host.name, "slots": host.slots, "tiers": host.tiers}
    return data | _differing(enabled=(host.enabled, True), leaving=(leaving, False))


def _job(each: QueueJob, names: Sequence[str]) -> dict[str, Any]:
    job = each.job
    data: dict[str, Any] = {
        "number": job.number,
        "size": job.size,
        "arrival": job.arrival,
        "cpu": job.cpu[0] if len(set(job.cpu)) == 1 else list(job.cpu),
    }
    data |= _differing(
        estimate=(job.estimate, None),
        walltime=(job.walltime, None),
        mbps=(job.mbps, 0.0),
        foreground=(job.foreground, True),
        background=(job.background, True),
        offset=(job.offset, 0.0),
        qos=(str(job.qos), str(NORMAL)),
        user=(each.user, None),
        done=(each.done, 0.0),
        ran=(each.ran, None),
    )
    if each.tier is not None:
        data |= {"tier": str(each.tier), "hosts": [names[host] for host in each.hosts]}
    return data


def _past(past: Past) -> dict[str, Any]:
    data = {"number": past.job.number, "size": past.job.size}
    data |= _differing(
        estimate=(past.job.estimate, None),
        walltime=(past.job.walltime, None),
        user=(past.user, None),
    )
    return data | {"wait": past.wait, "elapsed": past.elapsed, "work": past.work}


def _measured(measured: Measured) -> dict[str, Any]:
    return {
        "estimator": measured.estimator,
        "policy": measured.policy,
        **{
            name: {"errors": list(errors), "held": list(held)}
            for name, (errors, held) in (
                ("starts", measured.starts),
                ("finishes", measured.finishes),
            )
        },
    }


def _differing(**fields: tuple[Any, Any]) -> dict[str, Any]:
    """The values of the fields that are not their defaults."""
    return {name: value for name, (value, default) in fields.items() if value != default}


def load(data: Any, name: str = "state") -> QueueState:
    """The state that was dumped.

    :param name: of the file, for messages.
    :raises InvalidState: if it is none, of another version, or contradicts itself.
    """
    fields = Fields(data, name)
    if (form := fields.take("format", "")) != FORMAT:
        raise InvalidState(
            f"{name} is no state of a queue: its format is {shown(form)}, not {FORMAT!r}; give "
            "what `twotier-manage snapshot` wrote"
        )
    if (version := fields.take("version")) != VERSION:
        raise InvalidState(
            f"{name} is of version {shown(version)}, and this release reads version {VERSION}: "
            "write it anew with this release, or read it with the one that wrote it"
        )
    policy = fields.string("policy")
    if policy not in policies.POLICIES:
        known = ", ".join(sorted(policies.POLICIES))
        raise fields.wrong("policy", policy, f"one of: {known}")
    read_hosts = [_read_host(each) for each in fields.objects("hosts")]
    hosts = tuple(host for host, _leaving in read_hosts)
    index = _index(hosts, name)
    jobs = tuple(_read_job(each, index) for each in fields.objects("jobs"))
    servers = tuple(_read_server(each, index) for each in fields.objects("servers"))
    _check_numbers(jobs, name)
    _check_places(hosts, jobs, servers, name)
    calibration = fields.take("calibration", False)
    state = QueueState(
        at=fields.number("at", least=0),
        policy=policy,
        hosts=hosts,
        jobs=tuple(sorted(jobs, key=lambda each: each.job.number)),
        servers=servers,
        past=tuple(map(_read_past, fields.objects("past"))),
        leaving=frozenset(i for i, (_host, leaving) in enumerate(read_hosts) if leaving),
        threshold=fields.number("threshold", 0, 1, default=THRESHOLD),
        deadline_factor=fields.number("deadline_factor", 0, default=1.0),
        cost=fields.number("migration_cost", 0, default=20.0),
        pool=fields.string("pool", ""),
        measured=_read_measured(Fields(calibration, f"{name}: calibration"))
        if calibration is not False
        else None,
    )
    fields.end()
    return state


def _read_host(fields: Fields) -> tuple[Host, bool]:
    leaving = fields.flag("leaving", False)
    host = Host(
        fields.string("name"),
        fields.whole("slots", 0, MOST_SLOTS),
        fields.whole("tiers", 1, MOST_TIERS, default=2),
        fields.flag("enabled", True) and not leaving,
    )
    fields.end()
    return host, leaving


def _index(hosts: Iterable[Host], name: str) -> dict[str, int]:
    """The hosts' indices by name."""
    index: dict[str, int] = {}
    for i, host in enumerate(hosts):
        if index.setdefault(host.name, i) != i:
            raise InvalidState(f"{name}: host {host.name} is there twice")
    return index


def _read_job(fields: Fields, index: Mapping[str, int]) -> QueueJob:
    size = fields.whole("size", 1, MAX_SIZE)
    number = fields.whole("number", 0)
    try:
        job = Job(
            number=number,
            size=size,
            arrival=fields.number("arrival", least=0),
            cpu=_cpu(fields, size),
            estimate=fields.optional("estimate"),
            mbps=fields.number("mbps", 0, default=0.0),
            foreground=fields.flag("foreground", True),
            background=fields.flag("background", True),
            walltime=fields.optional("walltime"),
            offset=fields.number("offset", -math.inf, default=0.0),
            qos=_qos(fields),
        )
    except InvalidJob as error:
        raise InvalidState(f"{fields.where}: {error}") from None
    user = fields.string("user", "") or None
    done, ran = fields.number("done", 0, default=0.0), fields.optional("ran")
    said = fields.take("tier", "")
    tier = _tier(fields, said) if said else None
    hosts = fields.strings("hosts")
    if tier is None and hosts:
        raise InvalidState(f"{fields.where}: job {number} has hosts and no tier")
    if tier is not None and len(hosts) != size:
        raise InvalidState(
            f"{fields.where}: job {number} has {size} processes on {len(hosts)} hosts; name the "
            "host of each process"
        )
    places = tuple(_host_of(fields, each, index) for each in hosts)
    fields.end()
    return QueueJob(job, user, done, tier, places, ran)


def _qos(fields: Fields) -> Qos:
    value = fields.take("qos", str(NORMAL))
    try:
        return Qos(value)
    except ValueError:
        raise fields.wrong("qos", value, f"one of: {', '.join(Qos)}") from None


def _cpu(fields: Fields, size: int) -> tuple[float, ...]:
    value = fields.take("cpu", UNKNOWN_CPU)
    if is_number(value):
        return (float(value),) * size
    if not isinstance(value, list) or not all(map(is_number, value)):
        raise fields.wrong("cpu", value, "a number from 0 to 1, or one of each process")
    return tuple(map(float, value))


def _tier(fields: Fields, value: Any) -> Tier:
    try:
        return Tier(value)
    except ValueError:
        raise fields.wrong("tier", value, "fg or bg") from None


def _host_of(fields: Fields, name: str, index: Mapping[str, int]) -> int:
    if name not in index:
        raise InvalidState(f"{fields.where}: there is no host {shown(name)}")
    return index[name]


def _read_server(fields: Fields, index: Mapping[str, int]) -> Server:
    server = Server(
        _tier(fields, fields.take("tier")),
        _host_of(fields, fields.string("host"), index),
        fields.number("cpu", 0, 1, default=0.0),
    )
    fields.end()
    return server


def _read_past(fields: Fields) -> Past:
    past = past_of(
        fields.whole("number", 0),
        fields.whole("size", 1, MAX_SIZE),
        fields.optional("estimate"),
        fields.string("user", "") or None,
        wait=fields.number("wait", 0),
        elapsed=fields.number("elapsed", 0),
        work=fields.number("work", 0),
        walltime=fields.optional("walltime"),
    )
    fields.end()
    return past


def _read_measured(fields: Fields) -> Measured:
    found = {}
    for name in ("starts", "finishes"):
        of = Fields(fields.take(name), f"{fields.where}.{name}")
        errors, held = of.take("errors", []), of.take("held", [])
        if not isinstance(errors, list) or not all(map(is_number, errors)):
            raise of.wrong("errors", errors, "a list of numbers")
        if not isinstance(held, list) or not all(isinstance(each, bool) for each in held):
            raise of.wrong("held", held, "a list of true or false")
        of.end()
        found[name] = tuple(map(float, errors)), tuple(held)
    measured = Measured(fields.string("estimator"), fields.string("policy"), **found)
    fields.end()
    return measured


def _check_numbers(jobs: Sequence[QueueJob], name: str) -> None:
    for number, count in Counter(each.job.number for each in jobs).items():
        if count > 1:
            raise InvalidState(f"{name}: job {number} is there twice")


def _check_places(
    hosts: Sequence[Host], jobs: Iterable[QueueJob], servers: Iterable[Server], name: str
) -> None:
    """Check that no slot is given twice."""
    held = Counter(_held(jobs))
    held.update((each.host, each.tier) for each in servers)
    for (index, tier), count in held.items():
        host = hosts[index]
        places = host.slots if tier is FG else background_places(host.slots, host.tiers, 0)
        if count > places:
            raise InvalidState(
                f"{name}: a slot is given twice: host {host.name} has {places} places in {tier}, "
                f"and {count} processes hold one"
            )


def _held(jobs: Iterable[QueueJob]) -> Iterator[tuple[int, Tier]]:
    for each in jobs:
        if each.tier is not None:
            for host in each.hosts:
                yield host, each.tier
