"""Nova's services as objects of this process; call only after Nova's threading patch."""

import os
import pathlib
import time


def configure() -> None:
    """Read nova.conf from $OS_NOVA_CONFIG_DIR, as the API does, for all services."""
    import os_vif
    from nova import objects
    from nova.api.openstack import wsgi_app

    wsgi_app.init_global_data(wsgi_app._get_config_files(), "osapi_compute", "nova-api")
    os_vif.initialize()
    objects.register_all()
    conf = wsgi_app.CONF
    for directory in (conf.state_path, conf.oslo_concurrency.lock_path):
        pathlib.Path(directory).mkdir(parents=True, exist_ok=True)


def create_cells(cell0: str) -> None:
    """Tell the API database of the two cells; what `nova-manage cell_v2` does."""
    from nova import context, objects
    from nova.conf import CONF
    from oslo_utils import uuidutils

    ctxt = context.get_admin_context()
    objects.CellMapping(
        ctxt,
        uuid=objects.CellMapping.CELL0_UUID,
        name="cell0",
        transport_url="none:///",
        database_connection=cell0,
    ).create()
    objects.CellMapping(
        ctxt,
        uuid=uuidutils.generate_uuid(),
        name="cell1",
        transport_url=CONF.transport_url,
        database_connection=CONF.database.connection,
    ).create()


def start(binary: str, host: str | None = None):
    from nova import service
    from nova.compute import rpcapi as compute_rpcapi
    from nova.conductor import rpcapi as conductor_rpcapi
    from nova.scheduler import rpcapi as scheduler_rpcapi

    topics = {
        "nova-conductor": {"topic": conductor_rpcapi.RPC_TOPIC},
        "nova-scheduler": {"topic": scheduler_rpcapi.RPC_TOPIC},
        "nova-compute": {
            "topic": compute_rpcapi.RPC_TOPIC,
            "topic_alt": getattr(compute_rpcapi, "RPC_TOPIC_ALT", None),
        },
    }
    running = service.Service.create(host=host, binary=binary, **topics[binary])
    running.start()
    return running


def map_hosts(hosts: list[str]) -> None:
    """Wait for the hosts to come, and do what `nova-manage cell_v2 discover_hosts` does."""
    from nova import context, objects
    from nova.objects import host_mapping

    ctxt = context.get_admin_context()
    while True:
        host_mapping.discover_hosts(ctxt)
        mapped = {mapping.host for mapping in objects.HostMappingList.get_all(ctxt)}
        if mapped >= set(hosts):
            return
        time.sleep(0.5)


def remember_versions() -> None:
    """Ask the database only once how old the services are; too early, and the answer is wrong."""
    from nova import objects

    objects.Service.enable_min_version_cache()


def api():
    """The WSGI application of the compute API."""
    from nova.api.openstack import wsgi_app

    return wsgi_app.init_application("osapi_compute", "nova-api")


def without_database() -> None:
    """A compute of its own process asks the conductor, as a real one does."""
    import os_brick
    from nova.conductor import rpcapi as conductor_rpcapi
    from nova.conf import CONF
    from nova.db.main import api as database
    from nova.objects import base

    os_brick.setup(CONF)
    database.DISABLE_DB_ACCESS = True
    base.NovaObject.indirection_api = conductor_rpcapi.ConductorAPI()


def prefix_topics() -> None:
    """Keep the messages of two clouds on one RabbitMQ apart, without rights to make a vhost."""
    prefix = os.environ["FAKECLOUD_TOPIC_PREFIX"]
    from nova.compute import rpcapi as compute_rpcapi
    from nova.conductor import rpcapi as conductor_rpcapi
    from nova.scheduler import rpcapi as scheduler_rpcapi

    for module in (compute_rpcapi, conductor_rpcapi, scheduler_rpcapi):
        for name in ("RPC_TOPIC", "RPC_TOPIC_ALT"):
            if hasattr(module, name):
                setattr(module, name, f"{prefix}-{getattr(module, name)}")
