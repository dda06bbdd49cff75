"""What starts and ends of jobs with bandwidth ask of Neutron, once each."""

from collections.abc import Callable

from nova_twotier.cloud.nova import Server
from nova_twotier.db.models import Action, Job
from nova_twotier.manager.operations.operation import Call, Environment, tried

QOS = "qos"


def guarantee(action: Action, job: Job, gang: list[Server], env: Environment) -> list[Call]:
    """The request to guarantee it to the ports of servers that are there; none if that is done."""
    return _once(action, job, env, lambda: env.qos.guarantee(job, gang))


def withdraw(action: Action, job: Job, gang: list[Server], env: Environment) -> list[Call]:
    """The request to take it from servers that stay, or went; none if that is done.

    What Neutron refuses to the end is left behind, as the log says, and taken over by the job's
    next start, if there is one.
    """
    return _once(action, job, env, lambda: env.qos.withdraw(job, gang))


def _once(action: Action, job: Job, env: Environment, run: Callable[[], None]) -> list[Call]:
    if env.qos is None or not job.bandwidth or tried(action, QOS):
        return []
    return [Call(QOS, run)]
