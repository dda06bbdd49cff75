"""Resolves names of images, networks and flavors to ids."""

from openstack.exceptions import DuplicateResource

from nova_twotier.client.rest import is_uuid

#: Words that Nova accepts instead of networks.
NO_NETWORKS = ("none", "auto")


def image_id(clients, name: str) -> str:
    """:raises ValueError: if there is no image of that name, or more than one."""
    return _id(clients, "image", name, lambda sdk: sdk.image.find_image)


def networks(clients, names: list[str]) -> str | list[str]:
    """Ids of networks, or the word that Nova accepts instead.

    :raises ValueError: if there is no network of a name, or more than one.
    """
    if len(names) == 1 and names[0] in NO_NETWORKS:
        return names[0]
    for name in NO_NETWORKS:
        if name in names:
            raise ValueError(f"--network {name} cannot be combined with other networks")
    return [_id(clients, "network", name, lambda sdk: sdk.network.find_network) for name in names]


def flavor_name(clients, name: str) -> str:
    """The name of the flavor with this name or id.

    :raises ValueError: if there is none.
    """
    if not _known(clients, "compute"):
        return name
    found = clients.sdk_connection.compute.find_flavor(name, ignore_missing=True)
    if found is None:
        raise ValueError(f"there is no flavor {name!r} for you; see openstack flavor list")
    return found.name


def _id(clients, service: str, name: str, finder) -> str:
    if is_uuid(name) or not _known(clients, service):
        return name
    try:
        found = finder(clients.sdk_connection)(name, ignore_missing=True)
    except DuplicateResource:
        raise ValueError(f"there is more than one {service} {name!r}: give its id") from None
    if found is None:
        raise ValueError(f"there is no {service} {name!r} for you; see openstack {service} list")
    return found.id


def _known(clients, service: str) -> bool:
    """Whether the catalog or the options locate a service; if not, names are not resolved."""
    return bool(clients.is_service_available(service, clients.region_name, clients.interface))
