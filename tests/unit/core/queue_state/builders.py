"""States of queues: a small one, and hypothesis strategies for all kinds."""

from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.qos import NORMAL, URGENT, Qos
from nova_twotier.core.queue_state import Measured, QueueJob, QueueState, Server, past_of
from tests.unit.core.builders import BG, FG, bandwidth, estimate, job, utilisation

numbers = st.floats(0, 1e6)
errors = st.tuples(
    st.lists(st.floats(-3, 3), max_size=4).map(tuple),
    st.lists(st.booleans(), max_size=4).map(tuple),
)
measured = st.builds(Measured, st.just("sdpn"), st.just("easy"), errors, errors)


def small(policy="easy", **fields):
    """Two hosts of two slots; job 1 runs on three of them for 100 s more, job 2 of two waits."""
    return QueueState(
        at=50.0,
        policy=policy,
        hosts=(Host("a", 2), Host("b", 2)),
        jobs=(
            QueueJob(job(1, 3, estimate=150.0), "ann", 50.0, FG, (0, 0, 1)),
            QueueJob(job(2, 2, estimate=60.0), "bob"),
        ),
        **fields,
    )


@st.composite
def states(draw):
    """Whatever fits on the hosts: jobs and servers hold each place once."""
    shapes = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=4))
    hosts = tuple(
        Host(f"node {index}", slots, tiers, draw(st.booleans()))
        for index, (slots, tiers) in enumerate(shapes)
    )
    open_hosts = [Host(host.name, host.slots, host.tiers) for host in hosts]
    # As threshold: nothing is closed, since running jobs may be under closed slots for a moment.
    cluster = Hosts(open_hosts, threshold=2.0)
    leaving = frozenset(
        index for index, host in enumerate(hosts) if not host.enabled and draw(st.booleans())
    )
    jobs, servers = [], []
    for number in range(1, draw(st.integers(0, 6)) + 1):
        one = _job(draw, number)
        user = draw(st.none() | st.sampled_from(["ann", "bob", 'ö, "q"']))
        tier = draw(st.none() | st.sampled_from(list(Tier)))
        if tier is not None and cluster.fits(one, tier):
            run = cluster.start(one, tier)
            ran = draw(st.none() | numbers)
            jobs.append(QueueJob(one, user, draw(numbers), tier, run.hosts, ran))
        else:
            jobs.append(QueueJob(one, user, draw(numbers)))
    for tier in (FG, BG):
        for index in range(len(hosts)):
            if cluster.room(tier, index) and draw(st.booleans()):
                servers.append(Server(tier, index, draw(utilisation)))
                cluster.start(job(1000 + len(servers)), tier, (index,))
    return QueueState(
        at=draw(numbers),
        policy=draw(st.sampled_from(sorted(policies.POLICIES))),
        hosts=hosts,
        jobs=tuple(jobs),
        servers=tuple(servers),
        past=tuple(draw(st.lists(_past(), max_size=3))),
        leaving=leaving,
        threshold=draw(st.floats(0, 1)),
        deadline_factor=draw(numbers),
        cost=draw(numbers),
        pool=draw(st.sampled_from(["", "default", "gpu"])),
        measured=draw(
            st.none() | st.builds(Measured, st.just("sdpn"), st.just("easy"), errors, errors)
        ),
    )


def _job(draw, number):
    cpu = draw(st.lists(utilisation, min_size=1, max_size=4).map(tuple))
    foreground = draw(st.booleans())
    classes = [URGENT, NORMAL] if foreground else list(Qos)
    return Job(
        number,
        len(cpu),
        draw(numbers),
        cpu,
        draw(estimate),
        mbps=draw(bandwidth),
        foreground=foreground,
        background=not foreground or draw(st.booleans()),
        walltime=draw(estimate),
        offset=draw(st.floats(-10, 10)),
        qos=draw(st.sampled_from(classes)),
    )


@st.composite
def _past(draw):
    return past_of(
        draw(st.integers(1, 99)),
        draw(st.integers(1, 5)),
        draw(estimate),
        draw(st.none() | st.just("ann")),
        wait=draw(numbers),
        elapsed=draw(numbers),
        work=draw(numbers),
        walltime=draw(estimate),
    )
