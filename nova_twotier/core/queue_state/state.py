"""A queue and its hosts at one instant, as values, and what an estimator is told of them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from nova_twotier.core import policies
from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import UNMANAGED, Host, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import UNKNOWN_CPU, Job
from nova_twotier.core.policies import Policy
from nova_twotier.core.prediction.calibration import Calibration
from nova_twotier.core.prediction.present import Past, Present
from nova_twotier.core.slots import THRESHOLD
from nova_twotier.core.snapshot import EVENTS, Snapshot

#: Whatever can have happened: it is not known when the policy was last asked.
ANYTHING = EVENTS[-1]


@dataclass(frozen=True, slots=True)
class QueueJob:
    """A job that waits or runs.

    :param job: without `rank`, which is the policy's matter.
    :param user: its owner; None: not known.
    :param done: seconds of work that it has done; what a preempted job has saved.
    :param tier: None: it waits.
    :param hosts: indices of the hosts of its processes; empty while it waits.
    :param ran: seconds that it has run, by which a policy expects its end; None: as `done`.
    """

    job: Job
    user: str | None = None
    done: float = 0.0
    tier: Tier | None = None
    hosts: tuple[int, ...] = ()
    ran: float | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """A server that holds a slot and is no job's; it stays for an unknown time.

    :param cpu: its CPU utilisation, 0 to 1.
    """

    tier: Tier
    host: int
    cpu: float


@dataclass(frozen=True, slots=True)
class Measured:
    """How the predictions of a queue have come out, as `Calibration.state` has it.

    :param estimator, policy: by name; for others the errors say nothing.
    """

    estimator: str
    policy: str
    starts: tuple[tuple[float, ...], tuple[bool, ...]]
    finishes: tuple[tuple[float, ...], tuple[bool, ...]]

    def calibrations(self) -> tuple[Calibration, Calibration]:
        """Calibrations of predicted starts, and of predicted ends."""
        return Calibration(*self.starts), Calibration(*self.finishes)


@dataclass(frozen=True, slots=True)
class QueueState:
    """
    :param at: the time, in the same seconds as the jobs' arrivals.
    :param policy: its name.
    :param hosts: slots are counted; those that are closed follow from the utilisations of the
        processes and the threshold.
    :param jobs: that wait or run, by number.
    :param past: recent jobs that have ended, the oldest first.
    :param leaving: indices of the hosts that will not take VMs again; their slots do not count.
    :param cost: seconds that a job loses when it is restored or migrates.
    :param measured: None: no prediction has come out yet.
    :raises UnknownPolicy: if there is no such policy.
    """

    at: float
    policy: str
    hosts: tuple[Host, ...]
    jobs: tuple[QueueJob, ...] = ()
    servers: tuple[Server, ...] = ()
    past: tuple[Past, ...] = ()
    leaving: frozenset[int] = frozenset()
    threshold: float = THRESHOLD
    deadline_factor: float = 1.0
    cost: float = 20.0
    pool: str = ""
    measured: Measured | None = None

    def __post_init__(self) -> None:
        policies.get(self.policy)

    @property
    def slots(self) -> int:
        """Slots in one tier, on hosts that take VMs or will do so again."""
        hosts = enumerate(self.hosts)
        return sum(host.slots for index, host in hosts if index not in self.leaving)

    @property
    def waiting(self) -> list[QueueJob]:
        return [each for each in self.jobs if each.tier is None]


def past_of(
    number: int,
    size: int,
    estimate: float | None,
    user: str | None,
    *,
    wait: float,
    elapsed: float,
    work: float,
    walltime: float | None = None,
) -> Past:
    """A job that has ended, with no more than what estimators learn from."""
    job = Job(number, size, 0.0, (UNKNOWN_CPU,) * size, estimate, walltime=walltime)
    return Past(job, user, wait, elapsed, work)


def present(state: QueueState, policy: Policy | None = None) -> Present:
    """What an estimator is told; the first thing to come is a pass of the policy.

    A waiting job with more processes than there are slots is left out, as the queue manager does:
    policies would let others wait for it.

    :param policy: None: that of the state.
    """
    if policy is None:
        policy = policies.get(state.policy, state.deadline_factor)
    slots = state.slots
    waiting, runs = [], list(_servers(state))
    for each in state.jobs:
        job = policy.admit(each.job)
        if each.tier is not None:
            ran = each.done if each.ran is None else each.ran
            until = state.at - ran + job.expected
            runs.append(Run(job, each.tier, each.hosts, until=until))
        elif job.size <= slots:
            waiting.append(job)
    return Present(
        Snapshot(Hosts(state.hosts, state.threshold, runs=runs), waiting),
        policy,
        state.at,
        done={each.job.number: each.done for each in state.jobs if each.done},
        users={each.job.number: each.user for each in state.jobs if each.user is not None},
        cost=state.cost,
        staying=frozenset(UNMANAGED.values()),
        pending=ANYTHING,
    )


def _servers(state: QueueState) -> Iterable[Run]:
    for tier, number in UNMANAGED.items():
        if there := [each for each in state.servers if each.tier is tier]:
            cpu = tuple(each.cpu for each in there)
            job = Job(number, len(there), 0.0, cpu)
            yield Run(job, tier, tuple(each.host for each in there), pinned=True)


def anonymous(state: QueueState) -> QueueState:
    """The same with numbers instead of the names of users, hosts and pool."""
    users = [each.user for each in state.past] + [each.user for each in state.jobs]
    names = {
        user: f"user{number}"
        for number, user in enumerate(dict.fromkeys(filter(None, users)), start=1)
    }
    return replace(
        state,
        pool="",
        hosts=tuple(
            replace(host, name=f"host{number}") for number, host in enumerate(state.hosts, start=1)
        ),
        jobs=tuple(replace(each, user=names.get(each.user or "")) for each in state.jobs),
        past=tuple(each._replace(user=names.get(each.user)) for each in state.past),
    )
