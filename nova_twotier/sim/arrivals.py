"""Turns the jobs of a workload into arrivals: draws their CPU utilisation, bandwidth and class."""

import itertools
from collections.abc import Iterator, Sequence

import numpy

from nova_twotier.core.jobs import Job
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.sim import classes, estimates, network
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.workloads.bandwidth import Bandwidth
from nova_twotier.sim.workloads.workload import Submission

#: What becomes of an estimate that is understated.
UNDERSTATED = 0.1


def executions(jobs: Sequence[Submission], scenario: Scenario) -> Iterator[Execution]:
    """The jobs as they arrive, each with its CPU utilisation and bandwidth."""
    draws = scenario.utilisation.draw(
        (job.size for job in jobs),
        numpy.random.default_rng(scenario.seed),
        scenario.threshold,
    )
    rows = zip(
        jobs,
        draws,
        _estimates(jobs, scenario),
        _demands(jobs, scenario),
        classes.of(jobs, scenario.qos, scenario.seed),
        strict=True,
    )
    for submission, (known, true), estimate, mbps, qos in rows:
        number, arrival, size, runtime, _estimate, _user, _group, _qos = submission
        above = qos is not SCAVENGER
        job = Job(number, size, arrival, known, estimate, mbps=mbps, foreground=above, qos=qos)
        yield Execution(job, true, runtime)


def _estimates(jobs: Sequence[Submission], scenario: Scenario) -> Iterator[float | None]:
    """The run time that each job tells the policy when it arrives."""
    if estimates.is_missing(scenario.estimates):
        return itertools.repeat(None, len(jobs))
    exact = scenario.estimates == estimates.EXACT
    told = [job.runtime if exact else job.estimate for job in jobs]
    if not scenario.understated:
        return iter(told)
    draws = numpy.random.default_rng((scenario.seed, 2)).random(len(jobs)).tolist()
    return (
        estimate * UNDERSTATED if draw < scenario.understated else estimate
        for estimate, draw in zip(told, draws, strict=True)
    )


def _demands(jobs: Sequence[Submission], scenario: Scenario) -> Iterator[float]:
    """The bandwidth that each job asks for; the same whatever the utilisations are."""
    if scenario.bandwidth is None:
        return itertools.repeat(0.0, len(jobs))
    return Bandwidth.parse(scenario.bandwidth).draw(
        [job.size for job in jobs],
        scenario.slots,
        network.link_rate(scenario.topology),
        numpy.random.default_rng((scenario.seed, 1)),
    )
