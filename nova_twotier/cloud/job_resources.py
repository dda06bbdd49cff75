"""Whether what a job asks of Nova is there for its owner: flavor, image, networks, keys, quota."""

from typing import Any
from urllib.parse import quote

from keystoneauth1.session import Session

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.project_limits import Excess, ProjectLimits
from nova_twotier.cloud.reader import IMAGES_MICROVERSION, Reader

#: Nova's own view of what it does not keep itself, so that no other endpoint is needed.
_PATHS = {"image": "/images/", "network": "/os-networks/", "key": "/os-keypairs/"}


class JobResources:
    """
    :param session: keystoneauth session, with adapter options: `auth`, who asks, and others.
    """

    def __init__(self, session: Session, **options: Any):
        self._reader = Reader(session, **options)

    def there(self, kind: str, name: str) -> bool:
        """Whether there is a `flavor` (by name or id), `image`, `network` or `key` of that name.

        :raises CloudError: if Nova does not say.
        """
        if kind == "flavor":
            flavors = self._reader.flavors()
            return any(name in (flavor["name"], flavor["id"]) for flavor in flavors)
        if "/" in name:
            # As if Nova had refused: no name that a tenant gives says that Nova is away.
            raise CloudError(f"Nova cannot be asked for {name!r}: it would take it for a path", 400)
        return self._reader.exists(_PATHS[kind] + quote(name, safe=""), IMAGES_MICROVERSION)

    def excess(self, size: int, flavor: str | None) -> Excess | None:
        """A quota that as many servers exceed even if the project of who asks has no others.

        :param flavor: by name or id; None: what each server needs is not known.
        :raises CloudError: if Nova does not say.
        """
        limits = ProjectLimits.of(self._reader.limits())
        found = self._reader.flavors() if flavor else []
        shown = next((each for each in found if flavor in (each["name"], each["id"])), None)
        return limits.exceeded(size, shown)
