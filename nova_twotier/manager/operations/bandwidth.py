"""What starts and ends of jobs with bandwidth ask of Neutron, once each."""

from collections.abc import Callable

from nova_twotier.cloud.qos import Qos
from nova_twotier.db.progress import RequestKey
from nova_twotier.manager.operations.context import Context
from nova_twotier.manager.operations.operation import CloudRequest

QOS = "qos"


def guarantee(context: Context) -> list[CloudRequest]:
    """The request to guarantee it to the ports of servers that are there; none if that is done."""
    return _once(context, lambda qos: qos.guarantee(context.job, context.gang))


def withdraw(context: Context) -> list[CloudRequest]:
    """The request to take it from servers that stay, or went; none if that is done.

    What Neutron refuses to the end is left behind, as the log says, and taken over by the job's
    next start, if there is one.
    """
    return _once(context, lambda qos: qos.withdraw(context.job, context.gang))


def _once(context: Context, run: Callable[[Qos], None]) -> list[CloudRequest]:
    qos = context.env.qos
    if qos is None or not context.job.bandwidth or context.tried(QOS):
        return []
    return [CloudRequest(RequestKey(QOS), lambda: run(qos))]
