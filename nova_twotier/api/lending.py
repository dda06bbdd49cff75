"""What the submitter of a job lends the manager for it: a trust of Keystone."""

from collections.abc import Iterator
from contextlib import contextmanager

from oslo_log import log as logging

from nova_twotier.api import errors
from nova_twotier.api.auth import Caller
from nova_twotier.api.errors import Refused
from nova_twotier.api.site import Site
from nova_twotier.cloud.trusts import NoTrust, TrustError

LOG = logging.getLogger(__name__)


@contextmanager
def trust(site: Site, caller: Caller) -> Iterator[str | None]:
    """The id of a trust, for a job that is made meanwhile; None without
    Keystone, and for the manager's own user.

    It is deleted if the job is not made.

    :raises Refused: if the caller cannot give one, or Keystone does not answer.
    """
    if site.trusts is None:
        yield None
        return
    made = _make(site, caller)
    try:
        yield made
    except BaseException:
        if made:
            _delete(site, made)
        raise


def _make(site: Site, caller: Caller) -> str | None:
    try:
        return site.trusts.create(caller.token, caller.user_id, caller.project_id)
    except NoTrust as error:
        LOG.warning("A job is refused: %s", error)
        raise Refused(
            403,
            "trust.refused",
            "Keystone does not let you lend the queue manager the roles that a job needs "
            f"({', '.join(site.conf.trust.roles)}): ask for them in this project, and use a token "
            "that you got with a password, not by a trust or an application credential",
        ) from None
    except TrustError as error:
        LOG.error("There is no trust for a job: %s", error)
        raise errors.unavailable("Keystone") from None


def _delete(site: Site, made: str) -> None:
    try:
        site.trusts.delete(made)
    except TrustError as error:
        LOG.warning("A trust without a job is left in Keystone: %s", error)
