"""What Nova says when it refuses to make a job's servers, as the job's owner may read it.

Nova answers the owner's own request, by the trust: what it says of flavor, image, networks or key
is the owner's to know and to correct. Texts that might name more of the cloud are left out.
"""

import re
from collections.abc import Mapping
from typing import Any

from novaclient import exceptions as nova_exc

from nova_twotier.cloud.errors import CloudError, unified_limits
from nova_twotier.cloud.project_limits import ProjectLimits
from nova_twotier.core.reasons import Reason, failures, waits

#: Statuses of what a user has asked for wrongly, may not do, or what is in use.
TOLD = frozenset({400, 403, 409})
#: Nova's validation repeats the wrong value, which may be user data, and so a secret.
_VALUE = re.compile(r"\.? *Value: .*", re.DOTALL)
_REQUEST = re.compile(r"\s*\(?(?:Request-ID: )?\breq-[0-9a-f-]{36}\)?")
#: What might be the operator's: addresses, and the machines of the cloud.
_PRIVATE = re.compile(
    r"\w+://|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:hosts?|cells?|nodes?|hypervisors?)\b", re.IGNORECASE
)
#: What Nova says if a server group has no room.
_GROUP = re.compile(r"too many servers in group|Resource server_group_members\b", re.IGNORECASE)
#: Longest text of a reason, in characters.
LONGEST = 300


class BootRefused(CloudError):
    """Nova refused to make the servers of a job; `reason` has what its owner may read of that."""

    @property
    def group_is_full(self) -> bool:
        """Whether Nova refused for the quota of group members."""
        return bool(self.shortage and _GROUP.search(str(self)))


def boot_refused(error: nova_exc.ClientException) -> BootRefused:
    """The refusal of a request to make servers; its message, for operators, has no user data."""
    said = _VALUE.sub("", str(error.message))
    request = f" ({error.request_id})" if error.request_id else ""
    return BootRefused(
        f"Nova refused boot: {said} (HTTP {error.code}){request}",
        error.code,
        _reason(error, said),
    )


def too_large(
    refused: BootRefused, limits: ProjectLimits, size: int, flavor: Mapping[str, Any]
) -> Reason | None:
    """Why a job would be refused for quota even if its project had no other servers; else None.

    :param flavor: as Nova shows it.
    """
    over = unified_limits(str(refused))
    if alone := [(resource, limit) for resource, limit, delta in over if delta > limit]:
        least = min(limit for _resource, limit in alone)
        resources = ", ".join(resource for resource, limit in alone if limit == least)
        return waits.QUOTA_TOO_SMALL(resource=resources, limit=least)
    excess = limits.exceeded(size, flavor)
    if excess is None:
        return None
    return waits.QUOTA_TOO_SMALL(resource=excess.resource, limit=excess.allowed)


def _reason(error: nova_exc.ClientException, said: str) -> Reason | None:
    text = " ".join(_REQUEST.sub("", said).split())
    # Without a message of Nova there is that of the library.
    if error.code not in TOLD or text in ("", "n/a", type(error).message):
        return None
    if not text.isprintable() or _PRIVATE.search(text):
        return None
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}..."
    return failures.NOVA_REFUSED(status=error.code, text=text)
