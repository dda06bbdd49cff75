"""What each mode and phase of the DevStack plugin does, with DevStack's functions replaced."""

import contextlib
import io
import pathlib
import stat

import fixtures
import testtools

from nova_twotier import conf as config
from nova_twotier.cloud.sessions import session_for
from nova_twotier.cmd import manage
from nova_twotier.db.store import Store
from tests.unit.devstack import fake_cloud
from tests.unit.devstack.runs import ROOT, DevStack, options

FILTERS = "TierFilter,BackgroundThresholdFilter,VirtualClusterFilter"
OURS = "twotier-manager,twotier-api"


def without_ours(nova_conf):
    """The options of Nova as they would be without the plugin."""
    found = options(nova_conf)
    [filters] = found["filter_scheduler"]["enabled_filters"]
    kept = [each for each in filters.split(",") if each not in FILTERS.split(",")]
    found["filter_scheduler"]["enabled_filters"] = [",".join(kept)]
    return found


class PhaseCase(testtools.TestCase):
    def devstack(self, **settings):
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        return DevStack(directory, **settings)


class TestSettings(PhaseCase):
    def test_the_filters_follow_devstacks_own(self):
        filters = self.devstack().value_of("NOVA_FILTERS")
        self.assertTrue(filters.endswith(f"SameHostFilter,DifferentHostFilter,{FILTERS}"), filters)

    def test_fake_hosts(self):
        self.assertEqual("4", self.devstack().value_of("TWOTIER_SLOTS"))

    def test_real_hosts(self):
        devstack = self.devstack(VIRT_DRIVER="libvirt")
        self.assertGreaterEqual(int(devstack.value_of("TWOTIER_SLOTS")), 1)

    def test_local_conf_is_stronger(self):
        chosen = {"TWOTIER_SLOTS": "7", "TWOTIER_IMAGE": "mine"}
        devstack = self.devstack(**chosen)
        for name, value in chosen.items():
            self.assertEqual(value, devstack.value_of(name))


class TestStack(PhaseCase):
    def test_pre_install_does_nothing(self):
        devstack = self.devstack()
        before = devstack.files()
        devstack.run("stack", "pre-install")
        self.assertEqual(["define_plugin nova-twotier"], devstack.calls)
        self.assertEqual(before, devstack.files())

    def test_install(self):
        devstack = self.devstack()
        devstack.run("stack", "install")
        self.assertIn(f"setup_develop {ROOT} api", devstack.calls)

    def test_post_config_makes_user_and_database(self):
        devstack = self.devstack()
        devstack.run("stack", "post-config")
        self.assertEqual({"twotier": "admin"}, devstack.cloud["users"])
        self.assertEqual({"twotier": "tables"}, devstack.cloud["databases"])

    def test_post_config_waits_for_the_other_writer_of_nova_conf(self):
        devstack = self.devstack()
        devstack.run("stack", "post-config")
        self.assertEqual("async_wait configure_neutron_nova", devstack.calls[1])

    def test_the_managers_configuration_can_be_loaded(self):
        devstack = self.devstack()
        devstack.stack()
        conf = config.load(["--config-file", str(devstack.our_conf)], "twotier-manager")
        self.assertEqual("image-uuid", conf.manager.image)
        self.assertEqual("twotier.slot", conf.manager.flavor)
        self.assertEqual("none", conf.manager.network)
        self.assertEqual("amcbf", conf.manager.policy)
        self.assertEqual(str(devstack.directory / "data/nova-twotier"), conf.state_path)
        self.assertEqual(
            "mysql+pymysql://root:database-secret@127.0.0.1/twotier?charset=utf8",
            conf.database.connection,
        )
        for group in ("nova", "placement"):
            session, adapter = session_for(conf, group)
            self.assertEqual("http://127.0.0.1/identity", session.auth.auth_url)
            self.assertEqual({"region_name": "RegionOne"}, adapter)
            self.assertEqual("twotier", conf[group].username)
            self.assertEqual("service", conf[group].project_name)
            self.assertIsNone(conf[group].cafile)

    def test_the_command_that_makes_the_tables(self):
        """Ours, called as the plugin calls it; on SQLite, which needs no server."""
        devstack = self.devstack()
        devstack.run("stack", "post-config")
        [call] = [call for call in devstack.calls if call.startswith("twotier-manage")]
        text = devstack.our_conf.read_text()
        url = options(devstack.our_conf)["database"]["connection"][0]
        sqlite = f"sqlite:///{devstack.directory}/data/jobs.sqlite"
        devstack.our_conf.write_text(text.replace(url, sqlite))
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(0, manage.main(call.split()[1:]))
        Store(sqlite).close()

    def test_only_its_user_reads_our_configuration(self):
        devstack = self.devstack()
        devstack.run("stack", "post-config")
        self.assertEqual(0o600, stat.S_IMODE(devstack.our_conf.stat().st_mode))

    def test_the_certificate_with_tls(self):
        devstack = self.devstack(ENABLED_SERVICES="n-api,tls-proxy")
        devstack.run("stack", "post-config")
        written = options(devstack.our_conf)
        self.assertEqual([f"{devstack.directory}/data/ca-bundle.pem"], written["nova"]["cafile"])

    def test_extra_makes_flavor_and_aggregate(self):
        devstack = self.devstack(TWOTIER_SLOTS="6", TWOTIER_TIERS="3")
        devstack.stack("post-config", "extra")
        flavor = devstack.cloud["flavors"]["twotier.slot"]
        slot = {
            "resources:CUSTOM_TWOTIER_SLOT": "1",
            "quota:cpu_shares": "1024",
            "twotier:jobs_only": "true",
        }
        self.assertEqual(slot, flavor["properties"])
        self.assertEqual({"--vcpus": "1", "--ram": "256", "--disk": "1"}, flavor["options"])
        aggregate = devstack.cloud["aggregates"]["twotier"]
        self.assertEqual({"twotier:slots": "6", "twotier:tiers": "3"}, aggregate["properties"])
        self.assertEqual([], aggregate["hosts"])

    def test_extra_starts_the_processes_last(self):
        devstack = self.devstack()
        devstack.stack("post-config", "extra")
        *processes, last = devstack.calls[-3:]
        self.assertEqual(
            [
                f"run_process {name} {devstack.directory}/bin/{name}"
                f" --config-file {devstack.our_conf}"
                for name in ("twotier-manager", "twotier-api")
            ],
            processes,
        )
        self.assertTrue(last.endswith(" http://127.0.0.1:8782/healthcheck"), last)

    def test_test_config_adds_all_hosts(self):
        devstack = self.devstack()
        devstack.stack()
        self.assertEqual(fake_cloud.HOSTS, devstack.cloud["aggregates"]["twotier"]["hosts"])

    def test_twice_is_as_good_as_once(self):
        devstack = self.devstack()
        devstack.stack()
        files = {devstack.nova_conf: None, devstack.our_conf: None}
        once = devstack.cloud, {file: options(file) for file in files}
        devstack.stack()
        self.assertEqual(once, (devstack.cloud, {file: options(file) for file in files}))


class TestServices(PhaseCase):
    """A node does what its services ask for."""

    def test_without_manager_and_api(self):
        devstack = self.devstack(DISABLED_SERVICES=OURS)
        devstack.stack()
        self.assertEqual([], [call for call in devstack.calls if "run_process" in call])
        self.assertFalse(devstack.our_conf.exists())
        self.assertEqual(({}, {}), (devstack.cloud["users"], devstack.cloud["databases"]))
        self.assertEqual(fake_cloud.HOSTS, devstack.cloud["aggregates"]["twotier"]["hosts"])
        devstack.run("unstack")
        self.assertEqual([], [call for call in devstack.calls if "stop_process" in call])

    def test_a_compute_node_gets_its_nova_conf_only(self):
        devstack = self.devstack(ENABLED_SERVICES="n-cpu", DISABLED_SERVICES=OURS)
        devstack.stack()
        self.assertEqual(fake_cloud.EMPTY, devstack.cloud)
        written = options(devstack.nova_conf)
        self.assertEqual(["2.0"], written["DEFAULT"]["cpu_allocation_ratio"])

    def test_the_agent_of_a_compute_node(self):
        devstack = self.devstack(
            VIRT_DRIVER="libvirt",
            ENABLED_SERVICES="n-cpu",
            DISABLED_SERVICES=OURS,
            TWOTIER_SLOT_CPUS="2-7",
            TWOTIER_EMULATOR_CPUS="0,1",
        )
        devstack.stack()
        self.assertIn(f"setup_develop {ROOT} manager,agent", devstack.calls)
        [started] = [call for call in devstack.calls if call.startswith("run_process")]
        program = f"{devstack.directory}/bin/nova-twotier-agent --config-file {devstack.our_conf}"
        self.assertEqual(f"run_process twotier-agent {program}  root", started)
        conf = config.load(["--config-file", str(devstack.our_conf)], "nova-twotier-agent")
        self.assertEqual([[2, 3, 4, 5, 6, 7]], list(map(list, conf.agent.slot_cpus)))
        self.assertEqual([[0], [1]], list(map(list, conf.agent.emulator_cpus)))
        session, _adapter = session_for(conf, "placement")
        self.assertEqual("http://127.0.0.1/identity", session.auth.auth_url)
        self.assertEqual("twotier", conf.placement.username)
        self.assertNotIn("database", options(devstack.our_conf))
        self.assertEqual({}, devstack.cloud["users"])
        devstack.run("unstack")
        self.assertEqual("stop_process twotier-agent", devstack.calls[-1])
        devstack.run("clean")
        self.assertFalse(devstack.our_conf.exists())

    def test_no_agent_without_libvirt_or_without_compute(self):
        for settings in ({}, {"VIRT_DRIVER": "libvirt", "ENABLED_SERVICES": "key,n-api"}):
            devstack = self.devstack(**settings)
            devstack.stack()
            self.assertEqual([], [call for call in devstack.calls if "agent" in call])

    def test_no_nova_no_nova_conf(self):
        devstack = self.devstack(ENABLED_SERVICES="key,mysql")
        before = options(devstack.nova_conf)
        devstack.run("stack", "post-config")
        self.assertEqual(before, options(devstack.nova_conf))


class TestFailures(PhaseCase):
    """A command that fails stops the phase there, and the message says what it was to do."""

    def stops(self, phases, failures):
        """The last of the phases, with each of these commands failing in its turn."""
        devstack = self.devstack()
        devstack.stack(*phases[:-1])
        cloud = devstack.cloud
        for failing, message in failures.items():
            devstack.cloud = cloud
            ran = devstack.try_phase("stack", phases[-1], FAILING=failing)
            self.assertEqual(1, ran.returncode, failing)
            self.assertIn(message, ran.stderr)
            self.assertTrue(devstack.calls[-1].startswith(failing), devstack.calls[-1])

    def test_post_config(self):
        self.stops(
            ("install", "post-config"),
            {
                "openstack user create": "cannot make the user twotier",
                "twotier-manage": "cannot make the tables of the database twotier",
                "openstack service create": "cannot make the service nova-twotier",
                "openstack endpoint create": "cannot make the endpoint of the service",
            },
        )

    def test_extra(self):
        self.stops(
            ("post-config", "extra"),
            {
                "openstack flavor create": "cannot make the flavor twotier.slot",
                "openstack flavor set": "cannot give the flavor twotier.slot a slot",
                "openstack aggregate create": "cannot make the aggregate twotier",
                "openstack aggregate set": "cannot give the aggregate twotier its slots and tiers",
                "openstack image show": "there is no image 'cirros'; set TWOTIER_IMAGE",
                "curl": "twotier-api does not answer; see journalctl",
            },
        )

    def test_test_config(self):
        self.stops(
            ("post-config", "extra", "test-config"),
            {
                "openstack compute service list": "cannot list the compute hosts",
                "openstack aggregate show": "cannot read the aggregate twotier",
                "openstack aggregate add": "cannot add the host fake1 to the aggregate twotier",
            },
        )


class TestEnd(PhaseCase):
    def test_unstack_stops_the_processes_and_keeps_the_rest(self):
        devstack = self.devstack()
        devstack.stack()
        kept = devstack.cloud, devstack.files()
        devstack.run("unstack")
        stopped = ["stop_process twotier-api", "stop_process twotier-manager"]
        self.assertEqual(stopped, devstack.calls[-2:])
        self.assertEqual(kept, (devstack.cloud, devstack.files()))

    def test_clean_undoes_what_stack_made(self):
        devstack = self.devstack()
        before = devstack.cloud, devstack.files(), without_ours(devstack.nova_conf)
        devstack.stack()
        stacked = devstack.cloud, devstack.files(), options(devstack.nova_conf)
        for was, made in zip(before, stacked, strict=True):
            self.assertNotEqual(was, made)
        devstack.run("unstack")
        devstack.run("clean")
        # clean.sh itself removes the databases afterwards.
        self.assertEqual({"twotier": "tables"}, devstack.cloud["databases"])
        left = {**devstack.cloud, "databases": {}}
        self.assertEqual(before, (left, devstack.files(), options(devstack.nova_conf)))

    def test_clean_after_stacking_twice(self):
        devstack = self.devstack()
        before = without_ours(devstack.nova_conf)
        devstack.stack()
        devstack.run("stack", "post-config")
        devstack.run("clean")
        self.assertEqual(before, options(devstack.nova_conf))

    def test_clean_without_stack(self):
        devstack = self.devstack()
        before = devstack.files(), options(devstack.nova_conf)
        devstack.run("clean")
        self.assertEqual(before, (devstack.files(), options(devstack.nova_conf)))

    def test_clean_when_everything_is_down(self):
        """As after unstack.sh --all, which clean.sh calls first."""
        devstack = self.devstack()
        before = devstack.files()
        devstack.stack()
        devstack.cloud = {**devstack.cloud, "down": True}
        said = devstack.run("clean")
        self.assertIn("The cloud is down", said)
        self.assertEqual(before, devstack.files())

    def test_clean_tells_what_it_could_not_delete_and_goes_on(self):
        devstack = self.devstack()
        before = devstack.files()
        devstack.stack()
        ran = devstack.try_phase("clean", FAILING="openstack aggregate remove host twotier fake3")
        self.assertEqual(0, ran.returncode, ran.stderr)
        self.assertIn("the host fake3 is still in the aggregate twotier", ran.stderr)
        self.assertIn("the aggregate twotier is still there", ran.stderr)
        self.assertEqual(["fake3"], devstack.cloud["aggregates"]["twotier"]["hosts"])
        self.assertEqual({}, devstack.cloud["flavors"])
        self.assertEqual(before, devstack.files())
