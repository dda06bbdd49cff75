"""The REST API in DevStack: what the plugin does for it, and a server that runs on its file."""

import json
import pathlib
import re
import shlex
import stat
import subprocess
import sys
import time

import requests

from nova_twotier import conf as config
from nova_twotier.api.versions import SERVICE
from tests.ports import free_port
from tests.unit.devstack.runs import ROOT, options
from tests.unit.devstack.test_phases import PhaseCase

TLS = {"ENABLED_SERVICES": "key,n-api,tls-proxy"}


class TestPhases(PhaseCase):
    def registered(self, devstack):
        return devstack.cloud["services"], devstack.cloud["endpoints"]

    def test_post_config_registers_it(self):
        devstack = self.devstack()
        devstack.run("stack", "post-config")
        self.assertEqual(
            (
                {SERVICE: "nova-twotier"},
                {SERVICE: {"region": "RegionOne", "url": "http://127.0.0.1:8782"}},
            ),
            self.registered(devstack),
        )

    def test_its_configuration(self):
        devstack = self.devstack(SERVICE_HOST="192.0.2.7", TWOTIER_API_PORT="9000")
        devstack.run("stack", "post-config")
        conf = config.load(["--config-file", str(devstack.our_conf)], "twotier-api")
        self.assertEqual("keystone", conf.api.auth_strategy)
        self.assertEqual(("192.0.2.7", 9000), (conf.api.listen, conf.api.port))
        written = options(devstack.our_conf)["keystone_authtoken"]
        self.assertEqual(["twotier"], written["username"])
        self.assertEqual("http://192.0.2.7:9000", devstack.cloud["endpoints"][SERVICE]["url"])
        self.assertEqual(0o600, stat.S_IMODE(devstack.our_conf.stat().st_mode))

    def test_ipv6(self):
        devstack = self.devstack(SERVICE_HOST="[2001:db8::7]")
        devstack.run("stack", "post-config")
        self.assertEqual(["2001:db8::7"], options(devstack.our_conf)["api"]["listen"])
        url = devstack.cloud["endpoints"][SERVICE]["url"]
        self.assertEqual("http://[2001:db8::7]:8782", url)

    def test_behind_the_tls_proxy(self):
        devstack = self.devstack(**TLS)
        before = devstack.files()
        devstack.stack()
        url = "https://127.0.0.1:8782"
        self.assertEqual(url, devstack.cloud["endpoints"][SERVICE]["url"])
        written = options(devstack.our_conf)
        self.assertEqual(["127.0.0.1"], written["api"]["listen"])
        self.assertEqual(["18782"], written["api"]["port"])
        self.assertEqual(["True"], written["oslo_middleware"]["enable_proxy_headers_parsing"])
        self.assertIn("start_tls_proxy twotier-api * 8782 127.0.0.1 18782", devstack.calls)
        [asked] = [call for call in devstack.calls if call.startswith("curl")]
        self.assertTrue(asked.endswith(f" {url}/healthcheck"), asked)
        devstack.run("clean")
        self.assertIn("disable_apache_site twotier-api-tls-proxy", devstack.calls)
        self.assertEqual(before, devstack.files())

    def test_without_it_the_manager_works_alone(self):
        devstack = self.devstack(DISABLED_SERVICES="twotier-api", **TLS)
        devstack.stack("install", "post-config", "extra")
        calls = "\n".join(devstack.calls)
        self.assertIn(f"setup_develop {ROOT} manager", calls)
        self.assertIn("run_process twotier-manager", calls)
        self.assertNotIn("twotier-api", calls)
        self.assertEqual(({}, {}), self.registered(devstack))
        self.assertEqual(set(), {"api", "keystone_authtoken"} & options(devstack.our_conf).keys())
        for mode in ("unstack", "clean"):
            devstack.run(mode)
            self.assertNotIn("api", "".join(c for c in devstack.calls if "n-api" not in c))

    def test_without_the_manager_it_leaves_the_database_alone(self):
        devstack = self.devstack(DISABLED_SERVICES="twotier-manager")
        devstack.cloud = {**devstack.cloud, "databases": {"twotier": "tables of the manager"}}
        devstack.stack()
        calls = "\n".join(devstack.calls)
        self.assertIn("run_process twotier-api", calls)
        self.assertNotIn("twotier-manager", calls)
        self.assertIn(SERVICE, devstack.cloud["services"])
        devstack.run("unstack")
        devstack.run("clean")
        self.assertEqual({"twotier": "tables of the manager"}, devstack.cloud["databases"])
        self.assertEqual(({}, {}), self.registered(devstack))

    def test_clean_tells_that_the_service_is_left(self):
        devstack = self.devstack()
        devstack.stack()
        ran = devstack.try_phase("clean", FAILING="openstack service delete")
        self.assertEqual(0, ran.returncode, ran.stderr)
        self.assertIn("the service nova-twotier is still in Keystone", ran.stderr)
        self.assertEqual({}, devstack.cloud["flavors"])


class TestServer(PhaseCase):
    """`twotier-api` itself, started with the words that the plugin gives to `run_process`."""

    def serve(self, *changes):
        """The stacked cloud and a server, on SQLite, which needs no database server.

        :param changes: of the plugin's file, as text and its replacement.
        """
        port = str(free_port())
        devstack = self.devstack(TWOTIER_API_PORT=port)
        devstack.stack("post-config", "extra")
        [start] = [call for call in devstack.calls if call.startswith("run_process twotier-api")]
        url = options(devstack.our_conf)["database"]["connection"][0]
        text = devstack.our_conf.read_text()
        changes = (
            (url, f"sqlite:///{devstack.directory}/data/jobs.sqlite"),
            # DevStack installs its client library for all services.
            ("memcached_servers = localhost:11211\n", ""),
            *changes,
        )
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        devstack.our_conf.write_text(text)
        server = subprocess.Popen(
            [sys.executable, "-m", "nova_twotier.cmd.api", *start.split()[3:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        address = devstack.cloud["endpoints"][SERVICE]["url"]
        self.wait_for(f"{address}/healthcheck", server)
        return devstack, address

    def wait_for(self, url, server):
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            self.assertIsNone(server.poll(), "the server has ended")
            try:
                answer = requests.get(url, timeout=60)
            except requests.ConnectionError:
                time.sleep(0.1)
                continue
            self.assertEqual(200, answer.status_code)
            return
        raise AssertionError("the server does not answer")

    def test_it_starts_with_the_plugins_file_and_wants_a_token(self):
        _devstack, address = self.serve()
        self.assertEqual(200, requests.get(f"{address}/", timeout=30).status_code)
        answer = requests.get(f"{address}/v1/jobs", timeout=30)
        self.assertEqual(401, answer.status_code)
        self.assertIn("http://127.0.0.1/identity", answer.headers["WWW-Authenticate"])

    def test_what_the_documentation_says_submits_a_job(self):
        """Its line, with the real client, to an API that needs no Keystone to know the token."""
        _devstack, address = self.serve(("auth_strategy = keystone", "auth_strategy = noauth"))
        text = (ROOT / "doc/devstack.md").read_text()
        [line] = re.findall(r"^openstack (twotier job create .*) --wait$", text, re.MULTILINE)
        client = pathlib.Path(sys.executable).with_name("openstack")
        ran = subprocess.run(
            [client, *shlex.split(line), "--format", "json"],
            env={"OS_AUTH_TYPE": "none", "OS_ENDPOINT": address},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(0, ran.returncode, ran.stderr)
        job = json.loads(ran.stdout)
        self.assertEqual(("first", 4), (job["name"], job["size"]))
        self.assertEqual("queued", job["state"])
