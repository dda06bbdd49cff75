"""The Nova process of the embedded cloud: API, conductor, scheduler, all computes and the stubs."""

from nova import monkey_patch

monkey_patch.patch(backend="threading")

import configparser  # noqa: E402 - nothing may come before the patch
import os  # noqa: E402
import pathlib  # noqa: E402

from nova_twotier.tools.fakecloud import (  # noqa: E402
    child,
    control,
    driver,
    identities,
    identity,
    messages,
    services,
    sqlite,
    stubs,
)
from nova_twotier.tools.fakecloud.server import serve  # noqa: E402


def main() -> None:
    sqlite.patch()
    messages.patch()
    driver.register()
    cloud = configparser.ConfigParser(interpolation=None)
    cloud.read(pathlib.Path(os.environ["OS_NOVA_CONFIG_DIR"]) / "fakecloud.conf")
    hosts = cloud["cloud"]["hosts"].split(",")

    serve(child.socket_fd("image"), stubs.Glance(), threads=4)
    serve(child.socket_fd("network"), stubs.neutron, threads=4)
    known = identities.Identities()
    serve(child.socket_fd("identity"), identity.Keystone(known), threads=2)
    services.configure()
    services.create_cells(cloud["cloud"]["cell0"])
    services.start("nova-conductor")
    services.start("nova-scheduler")
    computes = {}
    serve(child.socket_fd("control"), control.Control(computes), threads=4)
    computes.update((host, services.start("nova-compute", host)) for host in hosts)
    services.map_hosts(hosts)
    services.remember_versions()
    serve(child.socket_fd("compute"), identities.adding(services.api(), known), threads=16)
    child.run_until_told_to_stop("nova")


if __name__ == "__main__":
    main()
