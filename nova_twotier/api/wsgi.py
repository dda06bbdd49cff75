"""The application for WSGI servers: `nova_twotier.api.wsgi:application`.

Its configuration is `nova-twotier.conf` in the directory that the environment variable
OS_TWOTIER_CONFIG_DIR names, else where oslo.config looks, such as /etc/nova-twotier.
"""

import os
import pathlib

from nova_twotier import conf as config
from nova_twotier.api.app import make


def _arguments() -> list[str]:
    directory = os.environ.get("OS_TWOTIER_CONFIG_DIR")
    if not directory:
        return []
    return ["--config-file", str(pathlib.Path(directory) / "nova-twotier.conf")]


def _make():
    """:raises ConfigError, StoreError: as `app.make`; ConfigError also for noauth."""
    conf = config.load(_arguments(), "twotier-api")
    if conf.api.auth_strategy == "noauth":
        # The address on which the server listens is not known here.
        raise config.ConfigError(
            "[api]auth_strategy is noauth, which only twotier-api serves, on the loopback address: "
            "use keystone"
        )
    return make(conf)


application = _make()
