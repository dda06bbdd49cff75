"""The operator's part after the start: wait for all hosts, create an aggregate and flavors."""

import time

from keystoneauth1 import adapter, loading, session
from novaclient import client, exceptions

from nova_twotier.tools.fakecloud.errors import FakeCloudError
from nova_twotier.tools.fakecloud.handover import (
    AGGREGATE,
    FLAVOR,
    MICROVERSION,
    PLAIN_FLAVOR,
    Access,
)
from nova_twotier.tools.fakecloud.settings import Settings


def keystone_session(access: Access, endpoint: str) -> tuple[session.Session, str | None]:
    """A session for the service at the endpoint, and its region."""
    options = access.auth(endpoint)
    loader = loading.get_plugin_loader(options.pop("auth_type"))
    region = options.pop("region_name", None)
    return session.Session(auth=loader.load_from_options(**options)), region


def nova_client(access: Access, microversion: str = MICROVERSION):
    keystone, region = keystone_session(access, access.compute_url)
    return client.Client(
        microversion, session=keystone, region_name=region, endpoint_override=access.compute_url
    )


def placement_client(access: Access):
    """An HTTP client: placement.get('/resource_providers').json()."""
    keystone, region = keystone_session(access, access.placement_url)
    return adapter.Adapter(
        keystone,
        service_type="placement",
        region_name=region,
        endpoint_override=access.placement_url,
        default_microversion="1.39",
    )


def run(settings: Settings, access: Access) -> None:
    nova = nova_client(access)
    wait_for_hosts(nova, settings.host_names)
    # The manager puts slots and tiers into Placement from the metadata of this aggregate.
    aggregate = nova.aggregates.create(AGGREGATE, None)
    for host in settings.host_names:
        nova.aggregates.add_host(aggregate, host)
    nova.aggregates.set_metadata(
        aggregate, {"twotier:slots": str(settings.slots), "twotier:tiers": str(settings.tiers)}
    )
    # Nova boots flavors without a disk for administrators only.
    slot = nova.flavors.create(FLAVOR, ram=256, vcpus=1, disk=1)
    slot.set_keys(
        {
            "resources:CUSTOM_TWOTIER_SLOT": "1",
            "quota:cpu_shares": "1024",
            "twotier:jobs_only": "true",
        }
    )
    nova.flavors.create(PLAIN_FLAVOR, ram=256, vcpus=1, disk=1)


def wait_for_hosts(nova, names: list[str], patience: float = 60.0) -> None:
    """Hosts that the scheduler may use: up, and mapped to a cell."""
    deadline = time.monotonic() + patience
    while True:
        try:
            up = {
                service.host
                for service in nova.services.list(binary="nova-compute")
                if service.state == "up"
            }
        except exceptions.ClientException:
            up = set()
        missing = sorted(set(names) - up)
        if not missing:
            return
        if time.monotonic() > deadline:
            raise FakeCloudError(f"hosts did not come up: {', '.join(missing)}")
        time.sleep(0.3)
