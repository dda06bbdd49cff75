"""Requests to Neutron about a job's bandwidth: guarantee it at the start, withdraw it later."""

from collections.abc import Callable

from nova_twotier.cloud.qos import Qos
from nova_twotier.db.progress import RequestKey
from nova_twotier.manager.operations.context import Context
from nova_twotier.manager.operations.operation import CloudRequest

QOS = "qos"


def guarantee(context: Context) -> list[CloudRequest]:
    """The request to guarantee the job's bandwidth to its ports; none if that is done."""
    return _once(context, lambda qos: qos.guarantee(context.job, context.gang))


def withdraw(context: Context) -> list[CloudRequest]:
    """The request to withdraw the job's bandwidth, even if its servers are gone; none if done.

    If Neutron refuses for good, the policy is left behind and logged; the job's next start, if
    there is one, reuses it.
    """
    return _once(context, lambda qos: qos.withdraw(context.job, context.gang))


def _once(context: Context, run: Callable[[Qos], None]) -> list[CloudRequest]:
    qos = context.env.qos
    if qos is None or not context.job.bandwidth or context.tried(QOS):
        return []
    return [CloudRequest(RequestKey(QOS), lambda: run(qos))]
