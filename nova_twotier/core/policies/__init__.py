"""Scheduling policies, one a file, found by the name that the papers give them."""

from nova_twotier.core.policies.acfcfs import Acfcfs
from nova_twotier.core.policies.ambf import Ambf
from nova_twotier.core.policies.amcbf import Amcbf
from nova_twotier.core.policies.amcbf_deadline import AmcbfDeadline
from nova_twotier.core.policies.bgmbf import Bgmbf
from nova_twotier.core.policies.bgmbf_sdf import BgmbfSdf
from nova_twotier.core.policies.ccfcfs import Ccfcfs
from nova_twotier.core.policies.cmbf import Cmbf
from nova_twotier.core.policies.cmcbf import Cmcbf
from nova_twotier.core.policies.conservative import Conservative
from nova_twotier.core.policies.easy import Easy
from nova_twotier.core.policies.easy_saf import EasySaf
from nova_twotier.core.policies.easy_sjf import EasySjf
from nova_twotier.core.policies.fcfs import Fcfs
from nova_twotier.core.policies.ktier_cmbf import KtierCmbf
from nova_twotier.core.policies.policy import Policy
from nova_twotier.core.policies.sbf import Sbf
from nova_twotier.core.policies.sdf import Sdf
from nova_twotier.core.policies.smjf import Smjf

__all__ = ["POLICIES", "Policy", "UnknownPolicy", "get"]


class UnknownPolicy(ValueError):
    """A policy name that does not exist; the message lists those that do."""


POLICIES: dict[str, type[Policy]] = {
    policy.name: policy
    for policy in (
        Fcfs,
        Easy,
        EasySjf,
        EasySaf,
        Conservative,
        Sdf,
        Sbf,
        Smjf,
        Cmbf,
        Ambf,
        Cmcbf,
        Amcbf,
        AmcbfDeadline,
        Ccfcfs,
        Acfcfs,
        KtierCmbf,
        Bgmbf,
        BgmbfSdf,
    )
}


def get(name: str, factor: float = 1.0) -> Policy:
    """The policy of a name.

    :param factor: as of `Policy`.
    :raises UnknownPolicy: if there is no policy of that name.
    """
    try:
        return POLICIES[name](factor)
    except KeyError:
        known = ", ".join(sorted(POLICIES))
        raise UnknownPolicy(f"there is no policy {name!r}; choose one of: {known}") from None
