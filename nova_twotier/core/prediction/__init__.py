"""When waiting jobs start and end: estimators, one a file, found by name.

All of them answer the same question (`Estimator.predict`), and learn from the jobs that have ended.
"""

from nova_twotier.core.prediction.estimator import Estimator
from nova_twotier.core.prediction.hanzich import Hanzich
from nova_twotier.core.prediction.historical import Historical
from nova_twotier.core.prediction.hybrid_li import HybridLi
from nova_twotier.core.prediction.hybrid_smith import HybridSmith
from nova_twotier.core.prediction.requested import Requested
from nova_twotier.core.prediction.sdpn import Sdpn

__all__ = ["ESTIMATORS", "Estimator", "UnknownEstimator", "get"]


class UnknownEstimator(ValueError):
    """An estimator name that does not exist; the message lists those that do."""


ESTIMATORS: dict[str, type[Estimator]] = {
    estimator.name: estimator
    for estimator in (Sdpn, Hanzich, Historical, HybridSmith, HybridLi, Requested)
}


def get(name: str) -> Estimator:
    """A new estimator, which knows no past jobs.

    :raises UnknownEstimator: if there is none of that name.
    """
    try:
        return ESTIMATORS[name]()
    except KeyError:
        known = ", ".join(sorted(ESTIMATORS))
        raise UnknownEstimator(f"there is no estimator {name!r}; choose one of: {known}") from None
