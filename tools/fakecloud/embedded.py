"""The embedded variant: Placement, all of Nova with the stubs, and our API, a process each."""

import sys

from nova_twotier.tools.fakecloud import inifile, novaconf, schemas, sqlite
from nova_twotier.tools.fakecloud.handover import Access
from nova_twotier.tools.fakecloud.layout import Layout, write_atomically
from nova_twotier.tools.fakecloud.settings import Settings
from nova_twotier.tools.fakecloud.stubs import IMAGE_ID

SERVERS = ["compute", "placement", "image", "network", "identity", "twotier", "control"]

ADMIN_TOKEN = "admin:admin"  # noqa: S105 - the stand-in for Keystone reads it as user:project

_DATABASES = {
    "nova_api": "nova-api",
    "nova_cell0": "nova-cell",
    "nova_cell1": "nova-cell",
    "placement": "placement",
}


def api(layout: Layout) -> tuple[str, list[str], list[str], dict[str, str]]:
    """The process of our API, as (name, arguments, sockets, environment)."""
    argv = [sys.executable, "-m", "nova_twotier.tools.fakecloud.run_wsgi", "twotier"]
    return "twotier", argv, ["twotier"], {"OS_TWOTIER_CONFIG_DIR": str(layout.root)}


class Embedded:
    """What the launcher needs to know of a variant: its files, its processes, its access."""

    servers = SERVERS

    def __init__(self, settings: Settings, layout: Layout, ports: dict[str, int]):
        self.settings = settings
        self.layout = layout
        self.urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}

    def check(self) -> None:
        """Fail early when something is missing that the cloud needs."""

    def prepare(self, progress) -> None:
        schemas.ensure(sorted(set(_DATABASES.values())), progress)
        for name, schema in _DATABASES.items():
            schemas.copy(schema, self.layout.db / f"{name}.sqlite")
        etc = self.layout.etc
        write_atomically(etc / "api-paste.ini", novaconf.token_paste())
        inifile.write(etc / "placement.conf", self._placement_conf())
        inifile.write(etc / "nova.conf", self._nova_conf())
        inifile.write(
            etc / "fakecloud.conf",
            {
                "cloud": {
                    "hosts": ",".join(self.settings.host_names),
                    "cell0": self._database("nova_cell0"),
                }
            },
        )

    def stages(self) -> list[list[tuple[str, list[str], list[str], dict[str, str]]]]:
        """Processes as (name, arguments, sockets, environment); those of a stage start together."""
        etc, package = str(self.layout.etc), "nova_twotier.tools.fakecloud"
        return [
            [
                (
                    "placement",
                    [sys.executable, "-m", f"{package}.run_wsgi", "placement"],
                    ["placement"],
                    {"OS_PLACEMENT_CONFIG_DIR": etc},
                ),
                (
                    "nova",
                    [sys.executable, "-m", f"{package}.run_nova"],
                    ["compute", "image", "network", "identity", "control"],
                    {"OS_NOVA_CONFIG_DIR": etc},
                ),
                api(self.layout),
            ]
        ]

    def after_stage(self, number: int) -> None:
        pass

    def to_discard(self) -> dict:
        """What `down` must remove outside of the directory."""
        return {}

    def access(self) -> Access:
        return Access(
            compute_url=f"{self.urls['compute']}/v2.1",
            placement_url=self.urls["placement"],
            image_url=self.urls["image"],
            network_url=self.urls["network"],
            identity_url=f"{self.urls['identity']}/v3",
            twotier_url=self.urls["twotier"],
            image_id=IMAGE_ID,
            token=ADMIN_TOKEN,
        )

    def _database(self, name: str) -> str:
        return sqlite.url(self.layout.db / f"{name}.sqlite")

    def _placement_conf(self) -> dict[str, dict]:
        return {
            "DEFAULT": {"use_stderr": True},
            "api": {"auth_strategy": "noauth2"},
            "placement_database": {"connection": self._database("placement")},
        }

    def _nova_conf(self) -> dict[str, dict]:
        return inifile.merge(
            novaconf.base(self.settings, self.layout),
            {
                "DEFAULT": {"host": "controller", "transport_url": "fake://"},
                "api_database": {"connection": self._database("nova_api")},
                "database": {"connection": self._database("nova_cell1")},
                "wsgi": {"api_paste_config": self.layout.etc / "api-paste.ini"},
                "placement": self._client("placement"),
                "neutron": {**self._client("network"), "endpoint_override": self.urls["network"]},
                "glance": {**self._client("image"), "endpoint_override": self.urls["image"]},
            },
        )

    def _client(self, service: str) -> dict:
        return {"auth_type": "admin_token", "endpoint": self.urls[service], "token": ADMIN_TOKEN}
