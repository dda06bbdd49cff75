"""Short ways to make what the manager sees."""

import itertools
import types
import uuid

from nova_twotier.cloud.instance_actions import InstanceAction
from nova_twotier.cloud.servers import Server
from nova_twotier.conf import manager as conf
from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import changes, failures
from nova_twotier.db.models import Action, Job
from nova_twotier.db.plans import EndPlan, EvictPlan, MigratePlan, PowerOnPlan, StartPlan, SwapPlan
from nova_twotier.db.progress import Progress, RequestKey
from nova_twotier.db.states import ActionKind, ActionState, JobState
from nova_twotier.ledger.claims import Claim
from nova_twotier.ledger.tree import Shape, TierHost
from nova_twotier.manager.observation import Observation

FG, BG = Tier.FG, Tier.BG
#: The action log of a server whose guest has powered itself off.
ENDED = [InstanceAction("stop", 90.0), InstanceAction("create", 10.0)]
_numbers = itertools.count(1)


def options(**changes):
    """The options of group `[manager]` by default, with changes."""
    defaults = {option.dest: option.default for option in conf.OPTS}
    # No test that does not ask for them needs a process that predicts.
    return types.SimpleNamespace(**{**defaults, "prediction_interval": 0.0, **changes})


def job(size=2, state=JobState.RUNNING, tier=FG, cpu=0.5, **values):
    number = values.pop("number", next(_numbers))
    defaults = {
        "uuid": str(uuid.uuid4()),
        "name": "",
        "submitted_at": float(number),
        "eligible_at": float(values.get("submitted_at", number)),
        "saved": False,
        "preemption": "shelve",
        "bandwidth": 0.0,
        "keep_servers": False,
        "retries": 3,
        "requeues": 0,
        "run_before": 0.0,
        "used_until": 0.0,
        "failures": 0,
        "setbacks": 0,
        "evictions": 0,
        "restores": 0,
        "swaps": 0,
        "migrations": 0,
        "requested_action": None,
        "reason": None,
        "not_before": 0.0,
        "report_token": None,
        "peers": False,
        "runs": 0,
        "started_at": None,
        "finished_at": None,
    }
    return Job(
        number=number, size=size, cpu=[cpu] * size, state=state, tier=tier, **{**defaults, **values}
    )


def servers(of, status="ACTIVE", task=None, hosts=("a",), count=None):
    """The gang of a job, spread over `hosts` in turn."""
    return [
        Server(f"{of.number}/{index}", of.uuid, index, status, task, hosts[index % len(hosts)])
        for index in range(of.size if count is None else count)
    ]


def hosts(names="ab", slots=4, tiers=2):
    return tuple(
        TierHost(name, Shape(slots, tiers), {tier: f"{name}-{tier}" for tier in Tier})
        for name in names
    )


def unmanaged_claim(host="a", tier=FG, points=0):
    """The claim of a VM that is no job's."""
    return Claim(f"unmanaged{next(_numbers)}", host, tier, points)


def seen(*gangs, tiers=None, at=100.0, where=None, down=(), unmanaged=(), others=()):
    """An observation of these gangs; every server on a host holds a slot in its job's tier.

    :param tiers: the tier of each gang, foreground by default.
    :param unmanaged: claims of others.
    :param others: claims of VMs that hold more than one, but those that count.
    """
    where = hosts() if where is None else where
    tiers = tiers or [FG] * len(gangs)
    claims = {
        server.id: Claim(server.id, server.host, tier, 50)
        for gang, tier in zip(gangs, tiers, strict=True)
        for server in gang
        if server.host and server.status not in ("SHELVED_OFFLOADED", "ERROR", "BUILD")
    }
    claims.update({claim.vm: claim for claim in unmanaged})
    return Observation(
        at,
        where,
        frozenset(host.name for host in where),
        {gang[0].job: list(gang) for gang in gangs if gang},
        claims,
        frozenset(down),
        tuple(others),
    )


#: Why a job is preempted, and why something fails, where a test does not care.
BY_NINE, FAILS = changes.PREEMPTED(9), failures.SLOTS_TAKEN()
#: What is done, where a test does not care.
PLANS = {
    ActionKind.START: StartPlan(FG, "immediate"),
    ActionKind.EVICT: EvictPlan(BY_NINE),
    ActionKind.SWAP: SwapPlan(()),
    ActionKind.MIGRATE: MigratePlan({}, {}),
    ActionKind.POWER_ON: PowerOnPlan(failures.HOST_REBOOTED()),
    ActionKind.END: EndPlan(JobState.FINISHED, None, 90.0),
}


def action(kind, of=None, plan=None, begun_at=0.0, attempts=None, **progress):
    """An open action.

    :param attempts: how often each request was answered, by its key as text.
    :param progress: other fields of `Progress`.
    """
    attempts = {RequestKey.parse(key): count for key, count in (attempts or {}).items()}
    return Action(
        id=1,
        kind=kind,
        phase=1,
        job=of.number if of else None,
        plan=plan or PLANS[kind],
        progress=Progress(attempts, **progress),
        state=ActionState.EXPECTED,
        begun_at=begun_at,
        created_at=0.0,
    )
