"""Resolve the names that users type to ids, and check that a pool exists."""

import re
from http import HTTPStatus

from openstack.exceptions import DuplicateResource, ForbiddenException

from nova_twotier.client.rest import Api, ApiError, is_uuid

#: Words that Nova accepts instead of networks.
NO_NETWORKS = ("none", "auto")

#: Ids of users in Keystone; those from LDAP are the longer ones.
_USER_ID = re.compile("[0-9a-f]{32}|[0-9a-f]{64}")
_PROJECT_ID = re.compile("[0-9a-f]{32}")


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
    if not known(clients, "compute"):
        return name
    found = clients.sdk_connection.compute.find_flavor(name, ignore_missing=True)
    if found is None:
        raise ValueError(f"there is no flavor {name!r} for you; see openstack flavor list")
    return found.name


def user_id(clients, name: str) -> str:
    """The id of the user with this name or id.

    :raises ValueError: if there is none, or Keystone does not say.
    """
    if _USER_ID.fullmatch(name):
        return name
    return _identity(clients, "user", name, own="username", source="which job show has")


def project_id(clients, name: str) -> str:
    """The id of the project with this name or id.

    :raises ValueError: if there is none, or Keystone does not say.
    """
    if _PROJECT_ID.fullmatch(name):
        return name
    source = "see openstack project list"
    return _identity(clients, "project", name, own="project_name", source=source)


def check_pool(api: Api, name: str | None) -> None:
    """Check that a pool exists, after a request for its jobs or hosts found nothing.

    Not before, since a pool that is no longer configured may have jobs and usage.

    :raises ApiError: if there is no such pool; the message lists those that there are.
    """
    if name is None:
        return
    try:
        api.queue(pool=name)
    except ApiError as error:
        if error.status == HTTPStatus.NOT_FOUND:
            raise


def _identity(clients, kind: str, name: str, *, own: str, source: str) -> str:
    """The id of a user or a project.

    :param own: the option that has the name of the caller's own.
    :param source: where ids are found.
    """
    if not known(clients, "identity"):
        return name
    sdk = clients.sdk_connection
    if name == clients.get_configuration().get("auth", {}).get(own):
        return getattr(sdk, f"current_{kind}_id")
    try:
        found = getattr(sdk.identity, f"find_{kind}")(name, ignore_missing=True)
    except ForbiddenException:
        raise ValueError(
            f"Keystone does not let you look up {kind} {name!r}: give the id, {source}"
        ) from None
    if found is None:
        raise ValueError(f"there is no {kind} {name!r} for you; see openstack {kind} list")
    return found.id


def _id(clients, service: str, name: str, finder) -> str:
    if is_uuid(name) or not known(clients, service):
        return name
    try:
        found = finder(clients.sdk_connection)(name, ignore_missing=True)
    except DuplicateResource:
        raise ValueError(f"there is more than one {service} {name!r}: give its id") from None
    if found is None:
        raise ValueError(f"there is no {service} {name!r} for you; see openstack {service} list")
    return found.id


def known(clients, service: str) -> bool:
    """Whether the catalog or the options locate a service; if not, names are not resolved."""
    return bool(clients.is_service_available(service, clients.region_name, clients.interface))
