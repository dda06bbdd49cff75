"""Checks whether jobs can boot with a flavor or an image."""

from nova_twotier.cloud.errors import UnfitFlavor, UnfitImage
from nova_twotier.cloud.reader import Document, Reader
from nova_twotier.core.actions import Tier
from nova_twotier.core.flavors import job_tiers
from nova_twotier.core.reasons import failures
from nova_twotier.ledger.names import CPU, SLOT

#: The property of an image that says how many seconds Nova waits for ACPI before it cuts the power.
SHUTDOWN_TIMEOUT = "os_shutdown_timeout"


class Bootable:
    """The flavors and images of Nova, as far as jobs can boot with them.

    :param options: the options of group `[manager]`.
    """

    def __init__(self, reader: Reader, options):
        self._reader = reader
        self._options = options

    def check_image(self, uuid: str) -> None:
        """:raises UnfitImage: if it makes Nova wait too long for guests that do not shut down."""
        image = self._reader.image(uuid) or {}
        value = str(image.get("metadata", {}).get(SHUTDOWN_TIMEOUT, "0"))
        longest = self._options.longest_shutdown
        # Nova itself refuses values that are not numbers.
        if value.isdecimal() and int(value) > longest:
            given = f"{SHUTDOWN_TIMEOUT}={value}"
            reason = failures.UNFIT_IMAGE(image=uuid, given=given, longest=longest)
            raise UnfitImage(str(reason), 400, reason)

    def flavor(self, name: str) -> Document:
        """A flavor by its name or id.

        :raises UnfitFlavor: if there is none, or it does not ask for one slot.
        """
        flavors = self._reader.flavors()
        found = next((each for each in flavors if name in (each["name"], each["id"])), None)
        if found is None:
            reason = failures.NO_FLAVOR(flavor=name)
            raise UnfitFlavor(str(reason), 404, reason)
        wanted = f"resources:{SLOT}"
        if found.get("extra_specs", {}).get(wanted) != "1":
            reason = failures.UNFIT_FLAVOR(flavor=name, wanted=wanted)
            raise UnfitFlavor(str(reason), 400, reason)
        if points := found["extra_specs"].get(f"resources:{CPU}"):
            given = f"resources:{CPU}={points}"
            reason = failures.FLAVOR_WITH_CPU(flavor=name, given=given)
            raise UnfitFlavor(str(reason), 400, reason)
        return found

    def limited_flavors(self) -> dict[str | None, tuple[Tier, ...]]:
        """The tiers allowed by flavors that do not allow all; see `Cloud.limited_flavors`."""
        found: dict[str | None, tuple[Tier, ...]] = {}
        for flavor in self._reader.flavors():
            tiers = job_tiers(flavor.get("extra_specs", {}))
            if len(tiers) < len(Tier):
                found |= {flavor["name"]: tiers, flavor["id"]: tiers}
        default = self._options.flavor
        return {**found, None: found[default]} if default in found else found
