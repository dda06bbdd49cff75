"""How to reach Nova and Placement: keystoneauth's own options in `[nova]` and `[placement]`."""

from keystoneauth1 import loading
from oslo_config import cfg

#: Seconds to wait for an answer. keystoneauth's own default is no limit: one lost packet would stop
#: the manager.
TIMEOUT = 60

TITLES = {"nova": "Access to the Nova API", "placement": "Access to the Placement API"}


def _groups() -> list[cfg.OptGroup]:
    # New ones each time: an auth plugin adds its options to the group itself.
    return [cfg.OptGroup(name, title=title) for name, title in TITLES.items()]


def register_opts(conf):
    for group in _groups():
        conf.register_group(group)
        loading.register_session_conf_options(conf, group.name)
        loading.register_auth_conf_options(conf, group.name)
        loading.register_adapter_conf_options(conf, group.name)
        conf.set_default("timeout", TIMEOUT, group.name)


def list_opts():
    options = [
        *loading.get_session_conf_options(),
        *loading.get_auth_common_conf_options(),
        *loading.get_auth_plugin_conf_options("password"),
        *loading.get_adapter_conf_options(),
    ]
    cfg.set_defaults(options, timeout=TIMEOUT)
    return [(group, options) for group in _groups()]
