"""Makes the Keystone trust with which a job's submitter delegates roles to the manager.

A submission is recorded before its trust is made, and the trust has the uuid of the job. So
`submissions.sweep` finds trusts without a job even if the API was killed in between.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from oslo_log import log as logging

from nova_twotier.api import errors
from nova_twotier.api.auth import Caller
from nova_twotier.api.errors import Refused
from nova_twotier.api.site import Site
from nova_twotier.cloud.trusts import NoTrust, TrustError
from nova_twotier.db import submissions
from nova_twotier.db.store import DATABASE_ERRORS

LOG = logging.getLogger(__name__)


@contextmanager
def trust(site: Site, caller: Caller, job: str) -> Iterator[str | None]:
    """Context with the id of a trust for the job submitted in it.

    The id is None without Keystone, and for the manager's own user. If submitting fails, the trust
    is deleted and the submission withdrawn.

    :param job: the job's uuid, recorded as being submitted.
    :raises Refused: if the caller cannot make a trust, or Keystone does not answer.
    """
    made = _make(site, caller, job)
    try:
        yield made
    except DATABASE_ERRORS:
        # The job may have been stored. If so, its submission is over and this changes nothing;
        # otherwise the trust is swept later.
        submissions.abandon(site.store, job)
        raise
    except BaseException:
        _take_back(site, job, made)
        raise


def _make(site: Site, caller: Caller, job: str) -> str | None:
    try:
        trusts = site.trusts
        if trusts is None:
            # Those that an API left in the middle have no trusts, either.
            submissions.withdraw(site.store, submissions.lapsed(site.store))
            return None
        site.sweeper.sweep_if_due(site.store, trusts)
        return trusts.create(caller.token, caller.user_id, caller.project_id, job)
    except Refused:
        submissions.withdraw(site.store, [job])
        raise
    except NoTrust as error:
        LOG.warning("A job is refused: %s", error)
        submissions.withdraw(site.store, [job])
        raise Refused(
            403,
            "trust.refused",
            "Keystone does not let you lend the queue manager the roles that a job needs "
            f"({', '.join(site.conf.trust.roles)}): ask for them in this project, and use a token "
            "that you got with a password, not by a trust or an application credential",
        ) from None
    except TrustError as error:
        LOG.error("Could not make a trust for a job: %s", error)
        # Keystone may still make it.
        submissions.abandon(site.store, job)
        raise errors.unavailable("Keystone") from None


def _take_back(site: Site, job: str, made: str | None) -> None:
    try:
        if made:
            site.trusts.delete(made)
    except TrustError as error:
        LOG.warning("A trust without a job is left in Keystone, to be swept: %s", error)
        submissions.abandon(site.store, job)
    else:
        submissions.withdraw(site.store, [job])
