"""Whether what a job asks of Nova is there for its owner: flavor, image, networks, keys, quota."""

from functools import cached_property
from typing import Any
from urllib.parse import quote

from keystoneauth1.session import Session

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.project_limits import Excess, ProjectLimits
from nova_twotier.cloud.reader import IMAGES_MICROVERSION, Document, Reader
from nova_twotier.core.flavors import own_cpus, own_cpus_by_image

#: Nova's own view of what it does not keep itself, so that no other endpoint is needed.
_PATHS = {"image": "/images/", "network": "/os-networks/", "key": "/os-keypairs/"}


class JobResources:
    """
    :param session: keystoneauth session, with adapter options: `auth`, who asks, and others.
    """

    def __init__(self, session: Session, **options: Any):
        self._reader = Reader(session, **options)
        self._found: dict[tuple[str, str], Document | None] = {}

    def there(self, kind: str, name: str) -> bool:
        """Whether there is a `flavor` (by name or id), `image`, `network` or `key` of that name.

        :raises CloudError: if Nova does not say.
        """
        return self._find(kind, name) is not None

    def own_cpus(self, kind: str, name: str) -> list[str]:
        """The extra specs of a `flavor`, or the property of an `image`, by which VMs have CPUs of
        their own; as `key=value`.

        :raises CloudError: if Nova does not say.
        """
        found = self._find(kind, name) or {}
        if kind == "flavor":
            return own_cpus(found.get("extra_specs", {}))
        return own_cpus_by_image(found.get("image", {}).get("metadata", {}))

    def excess(self, size: int, flavor: str | None) -> Excess | None:
        """A quota that as many servers exceed even if the project of who asks has no others.

        :param flavor: by name or id; None: what each server needs is not known.
        :raises CloudError: if Nova does not say.
        """
        limits = ProjectLimits.of(self._reader.limits())
        return limits.exceeded(size, self._flavor(flavor) if flavor else None)

    def _find(self, kind: str, name: str) -> Document | None:
        """Look up a flavor, image, network or key by its id or name; None if there is none."""
        if kind == "flavor":
            return self._flavor(name)
        if "/" in name:
            # As if Nova had refused: no name that a tenant gives says that Nova is away.
            raise CloudError(f"Nova cannot be asked for {name!r}: it would take it for a path", 400)
        if (kind, name) not in self._found:
            url = _PATHS[kind] + quote(name, safe="")
            self._found[kind, name] = self._reader.find(url, IMAGES_MICROVERSION)
        return self._found[kind, name]

    def _flavor(self, name: str) -> Document | None:
        """A flavor by name or id; None if there is none."""
        found = self._flavors
        return next((each for each in found if name in (each["name"], each["id"])), None)

    @cached_property
    def _flavors(self) -> list[Document]:
        return self._reader.flavors()
