"""Errors of Nova: whether a request may succeed later, and what the owner of the job may read."""

import functools
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import ParamSpec, TypeVar

from keystoneauth1 import exceptions as ksa_exc
from novaclient import exceptions as nova_exc
from oslo_log import log as logging

from nova_twotier.cloud import trusts
from nova_twotier.core.reasons import Reason, failures
from nova_twotier.ledger.placement import brief, login_refused

P = ParamSpec("P")
T = TypeVar("T")

LOG = logging.getLogger(__name__)

#: Nova's texts about its own quotas, and about Neutron's; and how those of oslo.limit begin.
_QUOTA = re.compile(
    r"quota exceeded(?: for|, too many)? ?([\w, ]*)|maximum number of (\w+) exceeded"
    r"|is over a limit for \[",
    re.IGNORECASE,
)
#: What oslo.limit says of each of the unified limits: resource, limit, delta.
_OVER_LIMIT = re.compile(
    r"Resource (\S+) is over limit of (\d+) due to current usage \d+ and delta (\d+)"
)


class CloudError(Exception):
    """Nova refused a request, or did not answer it; the message says which.

    :param status: of the answer in HTTP; 0 if there was none.
    :param reason: what the owner of the job may read of it; None for most.
    """

    def __init__(self, message: str, status: int = 0, reason: Reason | None = None):
        super().__init__(message)
        self.status = status
        self.reason = reason

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed later, so that it is worth a retry."""
        if self.status == 409:
            # Of a state, and not of a task, that does not go away by itself.
            return "vm_state" not in str(self)
        # Of credentials (401), too: they are the manager's, and no fault of the request.
        return self.status in (0, 401, 429) or self.status >= 500

    @property
    def taken(self) -> bool:
        """Whether Nova may have accepted the request in spite of this error."""
        untaken = (HTTPStatus.UNAUTHORIZED, HTTPStatus.TOO_MANY_REQUESTS)
        return self.status not in untaken and not isinstance(self, Unsent)

    @property
    def login(self) -> bool:
        """Whether the credentials of `[nova]` were refused, and so will be next time."""
        return self.status == HTTPStatus.UNAUTHORIZED

    @property
    def shortage(self) -> str:
        """The resources whose quota is used up, such as `cores, ram`; empty for other errors."""
        return shortage(str(self)) if self.status in (403, 413) else ""


def shortage(text: str) -> str:
    """The resources whose quota is used up, by a text of Nova; empty if it is about others."""
    if over := unified_limits(text):
        return ", ".join(resource for resource, *_numbers in over)
    found = _QUOTA.search(text)
    return (found[1] or found[2] or "quota").strip() if found else ""


def unified_limits(text: str) -> list[tuple[str, int, int]]:
    """The unified limits for which Nova refused a request: resource, limit, what was asked for.

    The text names resources without a limit in Keystone, too, as if it was 0. Nova enforces that
    only of some (`[quota]unified_limits_resource_list`), so that any other limit is the reason. It
    may be in the part that Nova has cut off, as from the fault of a server: then none is known.
    """
    found = [(name, int(limit), int(delta)) for name, limit, delta in _OVER_LIMIT.findall(text)]
    registered = [over for over in found if over[1] > 0]
    return registered or (found if "]" in text else [])


class Undecided(CloudError):
    """It is not known yet whether a request was lost: Nova is asked again until it is known."""


class Unsent(CloudError):
    """Nova has done nothing, and the request is made again: Keystone gave no token for it, so that
    it was never sent, or see `GroupFull`."""


class GroupFull(Unsent):
    """Nova refused a boot because its server group would exceed the quota of members; the next
    boot of the job is in no group."""


class NotYet(CloudError):
    """What was asked about has not happened yet: no failure, and it is asked again later."""


class Unfit(CloudError):
    """The job's flavor or image is not suitable for jobs; `reason` says why."""


class UnfitFlavor(Unfit):
    """The flavor that a job asks for is not suitable for jobs."""


class UnfitImage(Unfit):
    """The image that a job asks for would keep its slots too long when it is preempted."""


def no_answer(error: ksa_exc.ClientException) -> CloudError:
    """The error for a request to Nova that keystoneauth could not make, or that has no answer."""
    if isinstance(error, ksa_exc.Unauthorized):
        return CloudError(login_refused("Keystone", "nova"), error.http_status)
    return CloudError(
        f"Nova does not answer ({brief(error)}); is the cloud up, and [nova] right?",
        getattr(error, "http_status", 0),
    )


def not_understood(request: str, service: str, where: str, error: Exception) -> str:
    """Log and describe an answer with a status of 2xx that is not the service's.

    :param where: the setting that says where the service is.
    """
    LOG.debug("The answer to %s was not understood", request, exc_info=error)
    return (
        f"the answer to {request} is not {service}'s ({error!r}); is {where} right, and no proxy "
        "in its place?"
    )


def translated(method: Callable[P, T]) -> Callable[P, T]:
    """A method that raises CloudError for whatever Nova, or Keystone for a trust, refuses."""

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except nova_exc.Unauthorized as error:
            raise CloudError(login_refused("Nova", "nova"), error.code) from error
        except nova_exc.ClientException as error:
            message = f"Nova refused {method.__name__}: {error}"
            raise CloudError(message, error.code) from error
        except (ksa_exc.Unauthorized, ksa_exc.ConnectionError, ksa_exc.EndpointNotFound) as error:
            raise no_answer(error) from error
        except ksa_exc.ClientException as error:
            message = f"Nova refused {method.__name__}: {error}"
            raise CloudError(message, getattr(error, "http_status", 0)) from error
        except trusts.NoTrust as error:
            raise CloudError(str(error), 403, failures.TRUST()) from error
        except trusts.TrustError as error:
            raise Unsent(str(error)) from error
        except (LookupError, TypeError, AttributeError) as error:
            # Half an answer, or that of a proxy: whatever has a status of 2xx is taken apart.
            raise CloudError(not_understood(method.__name__, "Nova", "[nova]", error)) from error

    return call
