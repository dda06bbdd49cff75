"""A process that serves one WSGI application on the socket that the launcher opened."""

import os
import pathlib
import signal
import sys
from functools import partial

from nova_twotier.tools.fakecloud import child, sqlite


def placement():
    from placement.wsgi import init_application

    return init_application()


def identity():
    from keystone.server.wsgi import initialize_public_application

    return initialize_public_application()


def image():
    from glance.common.wsgi_app import init_app

    return init_app()


def network():
    from nova_twotier.tools.fakecloud.stubs import neutron

    return neutron


def twotier():
    from nova_twotier import conf as config
    from nova_twotier.api.app import make
    from nova_twotier.tools.fakecloud import identities

    path = pathlib.Path(os.environ["OS_TWOTIER_CONFIG_DIR"]) / "nova-twotier.conf"
    load = partial(config.load, ["--config-file", str(path)], "twotier-api")
    conf = load()
    signal.signal(signal.SIGHUP, lambda *_: config.reload(conf, load))
    if conf.api.auth_strategy == "noauth":
        return identities.adding(make(conf), identities.Identities())
    return make(conf)


def main() -> None:
    name = sys.argv.pop(1)
    if name != "twotier":  # our own transactions need no help
        sqlite.patch()
    application = {
        "placement": placement,
        "identity": identity,
        "image": image,
        "network": network,
        "twotier": twotier,
    }[name]()
    from nova_twotier.tools.fakecloud.server import serve

    serve(child.socket_fd(name), application, threads=8)
    child.run_until_told_to_stop(name)


if __name__ == "__main__":
    main()
