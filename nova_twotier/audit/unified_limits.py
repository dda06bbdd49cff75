"""Reads Nova's registered limits from Keystone."""

from collections.abc import Mapping
from typing import Any, cast

from keystoneauth1 import adapter, plugin
from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1.session import Session

from nova_twotier.cloud.errors import CloudError
from nova_twotier.ledger.placement import brief


def registered(session: Session, options: Mapping[str, Any]) -> dict[str, int]:
    """The registered limits of Nova's service and region by resource; Nova heeds no others.

    :param options: of the adapter for Nova.
    :raises CloudError: if Keystone does not tell them.
    """
    wanted = {name: options.get(name) for name in ("interface", "region_name", "service_name")}
    kind = options.get("service_type", "compute")
    keystone = adapter.Adapter(
        session, interface=cast(str, plugin.AUTH_INTERFACE), version="3", raise_exc=True
    )
    try:
        nova = session.get_endpoint_data(service_type=kind, discover_versions=False, **wanted)
        if nova is None or nova.service_id is None:
            raise CloudError("Keystone's catalog has no service for the options of [nova]")
        query = {"service_id": nova.service_id, "region_id": nova.region_name}
        answer = keystone.get("/registered_limits", params=query)
    except ksa_exc.ClientException as error:
        raise CloudError(f"Keystone does not tell the limits of Nova: {brief(error)}") from error
    limits = answer.json()["registered_limits"]
    return {limit["resource_name"]: limit["default_limit"] for limit in limits}
