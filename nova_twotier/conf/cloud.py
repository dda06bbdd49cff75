"""How to reach Nova and Placement: keystoneauth's own options in `[nova]` and `[placement]`."""

from keystoneauth1 import loading
from oslo_config import cfg

GROUPS = (
    cfg.OptGroup("nova", title="Access to the Nova API"),
    cfg.OptGroup("placement", title="Access to the Placement API"),
)


def register_opts(conf):
    for group in GROUPS:
        conf.register_group(group)
        loading.register_session_conf_options(conf, group.name)
        loading.register_auth_conf_options(conf, group.name)
        loading.register_adapter_conf_options(conf, group.name)


def list_opts():
    options = [
        *loading.get_session_conf_options(),
        *loading.get_auth_common_conf_options(),
        *loading.get_auth_plugin_conf_options("password"),
        *loading.get_adapter_conf_options(),
    ]
    return [(group, options) for group in GROUPS]
