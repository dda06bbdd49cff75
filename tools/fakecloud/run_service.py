"""A process of the full cloud that plays one part of Nova."""

from nova import monkey_patch

monkey_patch.patch(backend="threading")

import configparser  # noqa: E402 - nothing may come before the patch
import os  # noqa: E402
import pathlib  # noqa: E402
import sys  # noqa: E402

from nova_twotier.tools.fakecloud import child, driver, services, sqlite  # noqa: E402


def main() -> None:
    """Arguments: the part (cells, conductor, scheduler, compute, api), then hosts of a compute."""
    part, hosts = sys.argv[1], sys.argv[2:]
    del sys.argv[1:]  # Nova would read them as its own
    services.prefix_topics()
    sqlite.patch()
    driver.register()
    cloud = configparser.ConfigParser(interpolation=None)
    cloud.read(pathlib.Path(os.environ["OS_NOVA_CONFIG_DIR"]) / "fakecloud.conf")
    services.configure()
    if part == "cells":
        services.create_cells(cloud["cloud"]["cell0"])
        return
    if part == "api":
        from nova_twotier.tools.fakecloud.server import serve

        application = services.api()
        services.map_hosts(cloud["cloud"]["hosts"].split(","))
        services.remember_versions()
        serve(child.socket_fd("compute"), application, threads=16)
    elif part == "compute":
        services.without_database()
        for host in hosts:
            services.start("nova-compute", host)
    else:
        services.start(f"nova-{part}")
    child.run_until_told_to_stop(os.environ["FAKECLOUD_NAME"])


if __name__ == "__main__":
    main()
