"""The full variant: a process for each service, RabbitMQ, Keystone, Glance; a stub of Neutron."""

import secrets
import subprocess
import sys

from nova_twotier.tools.fakecloud import (
    cloud,
    inifile,
    keystone,
    libvirtd,
    novaconf,
    schemas,
    servers,
    sqlite,
    stubs,
)
from nova_twotier.tools.fakecloud.embedded import api
from nova_twotier.tools.fakecloud.errors import FakeCloudError
from nova_twotier.tools.fakecloud.handover import Access
from nova_twotier.tools.fakecloud.layout import Layout, write_atomically
from nova_twotier.tools.fakecloud.settings import Settings

_DATABASES = {
    "nova_api": "nova-api",
    "nova_cell0": "nova-cell",
    "nova_cell1": "nova-cell",
    "placement": "placement",
    "keystone": "keystone",
    "glance": "glance",
}
_PACKAGE = "nova_twotier.tools.fakecloud"


class Full:
    servers = ("identity", "compute", "placement", "image", "network", "twotier")

    def __init__(self, settings: Settings, layout: Layout, ports: dict[str, int]):
        self.settings = settings
        self.layout = layout
        self.urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
        self.prefix = f"fakecloud_{secrets.token_hex(4)}"
        self.password = secrets.token_urlsafe(12)
        self.transport_url = servers.transport_url(settings.transport_url)
        self.databases = settings.database_url and servers.Databases(
            settings.database_url, self.prefix
        )

    def to_discard(self) -> dict:
        """Databases on a server; queues and exchanges go with their last user."""
        if not self.databases:
            return {}
        return {"database_url": self.settings.database_url, "prefix": self.prefix}

    def access(self) -> Access:
        return Access(
            compute_url=f"{self.urls['compute']}/v2.1",
            placement_url=self.urls["placement"],
            image_url=self.urls["image"],
            network_url=self.urls["network"],
            identity_url=f"{self.urls['identity']}/v3",
            twotier_url=self.urls["twotier"],
            image_id=stubs.IMAGE_ID,
            username="admin",
            password=self.password,
            project="admin",
        )

    def check(self) -> None:
        servers.check_broker(self.settings.transport_url)
        if self.databases:
            self.databases.check()
        if self.settings.libvirt and (reason := libvirtd.missing()):
            raise FakeCloudError(f"--libvirt: {reason}")

    def prepare(self, progress) -> None:
        if self.databases:
            progress("making the databases")
            self.databases.create(_DATABASES)
        else:
            schemas.ensure(sorted(set(_DATABASES.values())), progress)
            for name, schema in _DATABASES.items():
                schemas.copy(schema, self.layout.db / f"{name}.sqlite")
        self._write_configuration()
        progress("making the first user and the cells")
        keystone.prepare(self.layout.etc, self.layout.run, self.access())
        self._create_cells()

    def stages(self):
        def nova(name, *arguments, sockets=(), conf="api-paste.ini;nova.conf"):
            return (
                name,
                [sys.executable, "-m", f"{_PACKAGE}.run_service", *arguments],
                list(sockets),
                {**self._environment(), "OS_NOVA_CONFIG_FILES": conf},
            )

        def wsgi(name):
            return (
                name,
                [sys.executable, "-m", f"{_PACKAGE}.run_wsgi", name],
                [name],
                self._environment(),
            )

        def daemon(host):
            name = f"libvirtd-{host}"
            directory = self.layout.run / host
            directory.mkdir()
            novaconf.instances(self.layout, host).mkdir(parents=True)
            return name, libvirtd.prepare(directory, host, self.layout.ready(name)), [], {}

        hosts, size = self.settings.fake_hosts, self.settings.computes_per_process
        computes = [
            nova(
                f"nova-compute-{hosts[first]}",
                "compute",
                *hosts[first : first + size],
                conf="nova-compute.conf",
            )
            for first in range(0, len(hosts), size)
        ]
        real = self.settings.libvirt_hosts
        computes += [
            nova(f"nova-compute-{host}", "compute", host, conf=f"nova-compute-{host}.conf")
            for host in real
        ]
        return [
            [wsgi("identity"), wsgi("network"), *map(daemon, real)],
            [
                wsgi("placement"),
                wsgi("image"),
                api(self.layout),
                nova("nova-conductor", "conductor"),
                nova("nova-scheduler", "scheduler"),
                *computes,
                nova("nova-api", "api", sockets=["compute"]),
            ],
        ]

    def after_stage(self, number: int) -> None:
        if number == 0:
            keystone.fill_catalog(self.access())
        else:
            keystone.upload_image(self.access(), stubs.IMAGE_NAME)

    def _environment(self) -> dict[str, str]:
        services = ("NOVA", "PLACEMENT", "KEYSTONE", "GLANCE")
        directories = {f"OS_{name}_CONFIG_DIR": str(self.layout.etc) for name in services}
        return {**directories, "FAKECLOUD_TOPIC_PREFIX": self.prefix}

    def _create_cells(self) -> None:
        ran = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", f"{_PACKAGE}.run_service", "cells"],
            env={**cloud.environment(), **self._environment()},
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            reason = ran.stderr.strip().splitlines()[-1:] or ["no message"]
            raise FakeCloudError(f"cannot make the cells: {reason[0]}")

    def _database(self, name: str) -> str:
        if self.databases:
            return self.databases.url(name)
        return sqlite.url(self.layout.db / f"{name}.sqlite")

    def _write_configuration(self) -> None:
        etc = self.layout.etc
        write_atomically(
            etc / "api-paste.ini", novaconf.stock_file("nova", "api-paste.ini").read_text()
        )
        inifile.write(
            etc / "fakecloud.conf",
            {
                "cloud": {
                    "hosts": ",".join(self.settings.host_names),
                    "cell0": self._database("nova_cell0"),
                }
            },
        )
        inifile.write(
            etc / "keystone.conf",
            keystone.conf(self._database("keystone"), self.layout.run, self.urls["twotier"]),
        )
        inifile.write(
            etc / "placement.conf",
            {
                "DEFAULT": {"use_stderr": True},
                "keystone_authtoken": self._client(),
                "placement_database": {"connection": self._database("placement")},
            },
        )
        inifile.write(etc / "glance-api.conf", self._glance_conf())
        inifile.write(etc / "nova.conf", self._nova_conf())
        # A compute has no database, and looks for none if it is not told of any.
        compute = {
            section: options
            for section, options in self._nova_conf().items()
            if section not in ("api_database", "database")
        }
        inifile.write(etc / "nova-compute.conf", compute)
        for host in self.settings.libvirt_hosts:
            path = etc / f"nova-compute-{host}.conf"
            inifile.write(
                path,
                inifile.merge(compute, novaconf.libvirt(self.settings, self.layout, host, path)),
            )

    def _client(self) -> dict:
        options = self.access().auth(self.urls["identity"])
        return {**options, "www_authenticate_uri": options["auth_url"]}

    def _glance_conf(self) -> dict[str, dict]:
        images = self.layout.root / "images"
        return {
            "DEFAULT": {
                "use_stderr": True,
                "enabled_backends": "files:file",
                "enabled_import_methods": "[]",
                "worker_self_reference_url": self.urls["image"],
            },
            "glance_store": {"default_backend": "files"},
            "files": {"filesystem_store_datadir": images},
            "os_glance_staging_store": {"filesystem_store_datadir": images / "staging"},
            "os_glance_tasks_store": {"filesystem_store_datadir": images / "tasks"},
            "database": {"connection": self._database("glance")},
            "keystone_authtoken": self._client(),
            "oslo_concurrency": {"lock_path": self.layout.run / "locks"},
            "paste_deploy": {
                "flavor": "keystone",
                "config_file": novaconf.stock_file("glance", "glance-api-paste.ini"),
            },
        }

    def _nova_conf(self) -> dict[str, dict]:
        client = self._client()
        client.pop("www_authenticate_uri")
        return inifile.merge(
            novaconf.base(self.settings, self.layout),
            {
                "DEFAULT": {
                    "host": "controller",
                    "transport_url": self.transport_url,
                    "control_exchange": self.prefix,
                },
                "oslo_messaging_rabbit": {
                    "amqp_auto_delete": True,
                    "rabbit_transient_queues_ttl": 60,
                },
                "api_database": {"connection": self._database("nova_api")},
                "database": {"connection": self._database("nova_cell1")},
                "wsgi": {"api_paste_config": self.layout.etc / "api-paste.ini"},
                "keystone_authtoken": self._client(),
                "keystone": client,
                "placement": client,
                "service_user": {**client, "send_service_user_token": False},
                "neutron": {**client, "endpoint_override": self.urls["network"]},
                "glance": {**client, "endpoint_override": self.urls["image"]},
                "cinder": client,
            },
        )
