"""A process that serves one WSGI application on the socket that the launcher opened."""

import sys

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


def main() -> None:
    name = sys.argv.pop(1)
    sqlite.patch()
    application = {
        "placement": placement,
        "identity": identity,
        "image": image,
        "network": network,
    }[name]()
    from nova_twotier.tools.fakecloud.server import serve

    serve(child.socket_fd(name), application, threads=8)
    child.run_until_told_to_stop(name)


if __name__ == "__main__":
    main()
