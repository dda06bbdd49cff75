"""Keystone's single sign-on for the board: where browsers are sent, and who may send them back.

Keystone logs a user in by an identity provider, and has the browser post an unscoped token to a
dashboard that it trusts, here to `/board`.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from oslo_config import cfg

from nova_twotier.conf import ConfigError

_PART = "[A-Za-z0-9_][A-Za-z0-9_.~-]*"
_WAY = re.compile(f"(?:(?P<provider>{_PART})/)?(?P<protocol>{_PART})")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Provider:
    """A way to log in by Keystone.

    :param name: for people.
    :param url: the page of Keystone that begins it.
    """

    name: str
    url: str

    @property
    def origin(self) -> str:
        """Keystone's origin as browsers write it in their Origin header."""
        address = urlsplit(self.url)
        host = address.hostname or ""
        host = f"[{host}]" if ":" in host else host
        usual = address.port in (None, _PORTS[address.scheme])
        return f"{address.scheme}://{host}" + ("" if usual else f":{address.port}")


def providers(conf: cfg.ConfigOpts) -> list[Provider]:
    """The ways to log in that `[api]board_websso` offers.

    :param conf: with the options of keystonemiddleware.
    :raises ConfigError: if one is no protocol of Keystone, or its address is not known.
    """
    if not conf.api.board_websso:
        return []
    base = _base(conf.api.board_websso_url or conf.keystone_authtoken.www_authenticate_uri or "")
    return [Provider(name, f"{base}/{_path(way)}") for way, name in conf.api.board_websso.items()]


def _base(url: str) -> str:
    try:
        address = urlsplit(url)
        usable = address.scheme in _PORTS and address.hostname and address.port != 0
    except ValueError:
        usable = False
    if not usable or address.query or address.fragment:
        raise ConfigError(
            f"[api]board_websso needs Keystone's address for browsers, not {url!r}: set "
            "[api]board_websso_url, or www_authenticate_uri in [keystone_authtoken]"
        )
    return f"{url.rstrip('/').removesuffix('/v3')}/v3/auth/OS-FEDERATION"


def _path(way: str) -> str:
    parts = _WAY.fullmatch(way)
    if parts is None:
        raise ConfigError(
            f"[api]board_websso has {way!r}: give PROTOCOL:NAME or "
            "IDENTITY_PROVIDER/PROTOCOL:NAME, such as acme/openid:ACME"
        )
    if parts["provider"] is None:
        return f"websso/{parts['protocol']}"
    return f"identity_providers/{parts['provider']}/protocols/{parts['protocol']}/websso"
