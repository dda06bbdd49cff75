"""`nova-twotier-status upgrade check`: the nova.conf that we ship passes, each mistake shows."""

import json
import pathlib
import subprocess
import sys

import fixtures

from nova_twotier.audit.checks import facts
from nova_twotier.cmd import status
from nova_twotier.ledger.placement import PlacementUnavailable
from tests.unit.cmd.status_case import (
    FAILURE,
    FLAVOR,
    SHIPPED,
    SUCCESS,
    WARNING,
    StatusCase,
    deployed,
)


class TestConfiguration(StatusCase):
    def test_what_we_ship_passes(self):
        code, results = self.check()
        self.assertEqual(SUCCESS, code)
        everything = [name for name, _check in (*status.CONFIGURATION, *status.DEPLOYMENT)]
        others = {"Nova and Placement", "Unified limits"}
        self.assertEqual({*everything, *others}, results.keys())
        for name in ("Access rules of the API", "Pools of hosts"):
            result, details = results.pop(name)
            self.assertEqual((SUCCESS, "not checked: "), (result, details[:13]))
        self.assertEqual({(SUCCESS, None)}, set(results.values()))

    def test_no_nova_conf(self):
        """The checks of Nova's options see its defaults. A policy file may be of any service."""
        ours = self.write("ours.conf", "[manager]\nflavor = tt.job\n")
        access = pathlib.Path(self.access)
        _section, without = access.read_text().split("[scheduler]\n")
        access.write_text(access.read_text().replace(f"[scheduler]\n{without}", ""))
        _code, results = self.check(nova_conf=ours)
        result, details = results["Configuration of Nova"]
        self.assertEqual(WARNING, result)
        self.assertIn(f"it seems that no nova.conf was read (only {ours}, {access}, ", details)
        _code, results = self.check(f"[scheduler]\n{without}", nova_conf=ours)
        self.assertEqual((SUCCESS, None), results["Configuration of Nova"])

    def test_no_configuration_file(self):
        with fixtures.MonkeyPatch("oslo_config.cfg.find_config_files", lambda **_names: []):
            _code, out, _err = self.main("upgrade", "check", "--json")
        [details] = [
            check["details"]
            for check in json.loads(out)["checks"]
            if check["check"] == "Configuration of Nova"
        ]
        self.assertIn("(no configuration file was found): give", details)

    def test_available_filters(self):
        """The lines of all files add up: here one is taken out of ours, or written otherwise."""
        name = "Filters that can be loaded"
        nova = "available_filters = nova.scheduler.filters.all_filters"
        ours = "available_filters = nova_twotier.filters.all_filters"
        for line, one_by_one in (
            (nova, "available_filters = nova.scheduler.filters.compute_filter.ComputeFilter"),
            (ours, "available_filters = nova_twotier.filters.tier_filter.TierFilter"),
        ):
            self.assertIn(line, SHIPPED.read_text())
            without = self.write("nova.conf", SHIPPED.read_text().replace(line, ""))
            self.shows(name, FAILURE, f"lacks {line}: add it", nova_conf=without)
            named = self.write("nova.conf", SHIPPED.read_text().replace(line, one_by_one))
            self.assertEqual(SUCCESS, self.check(nova_conf=named)[0])

    def test_enabled_filters(self):
        for names, code, words in (
            ("ComputeFilter", FAILURE, "lacks TierFilter"),
            ("TierFilter,ComputeFilter,BackgroundThresholdFilter", WARNING, "ComputeFilter"),
            ("ComputeFilter,TierFilter", WARNING, "BackgroundThresholdFilter after TierFilter"),
            (
                "ComputeFilter,BackgroundThresholdFilter,TierFilter",
                WARNING,
                "BackgroundThresholdFilter after TierFilter",
            ),
            (
                "ComputeFilter,TierFilter,VirtualClusterFilter,BackgroundThresholdFilter",
                WARNING,
                "VirtualClusterFilter last",
            ),
        ):
            change = f"[filter_scheduler]\nenabled_filters = {names}\n"
            self.shows("Filters and their order", code, words, change)

    def test_weighers(self):
        soft = "nova.scheduler.weights.affinity.ServerGroupSoftAffinityWeigher"
        ours = "nova_twotier.weighers.all_weighers"
        for change, code, words in (
            (f"weight_classes = {ours}", FAILURE, f"lacks {soft}"),
            (f"weight_classes = {soft}", WARNING, f"lacks {ours}"),
            ("soft_affinity_weight_multiplier = 1.0", WARNING, "set it to 0"),
        ):
            self.shows("Weighers", code, words, f"[filter_scheduler]\n{change}\n")
        all_of_nova = f"weight_classes = {ours},nova.scheduler.weights.all_weighers"
        self.assertEqual(SUCCESS, self.check(f"[filter_scheduler]\n{all_of_nova}\n")[0])

    def test_options_of_the_plugin(self):
        """The scheduler would refuse a wrong value at each request for a slot."""
        for option, value in (
            ("background_threshold", "96"),
            ("background_threshold", "nan"),
            ("missing_reading", "opened"),
            ("adaba_weight_multiplier", "inf"),
            ("max_mbps", "0"),
        ):
            change = f"[twotier]\n{option} = {value}\n"
            self.shows("Options of the plugin", FAILURE, option, change)

    def test_one_threshold(self):
        low, jobs = "[twotier]\nbackground_threshold = 0.9\n", "[manager]\nflavor = slot\n"
        words = "background_threshold (0.9) is less than [manager]threshold (0.96)"
        self.shows("Options of the plugin", WARNING, words, low + jobs)
        for others in (
            "",
            f"{jobs}threshold = 0.9",
            f"{jobs}threshold = 0.8",
            f"{jobs}model = model.json",
        ):
            self.assertEqual(SUCCESS, self.check(low + others)[0], others)

    def test_names_where_nova_takes_uuids(self):
        name, uuid = "Image and network of jobs", "8c0d7d7e-6f5e-4c3c-9a3b-1f2e3d4c5b6a"
        for options, words in (
            ("image = cirros", "[manager]image is 'cirros': give the uuid that `openstack image"),
            (f"image = {uuid}\nnetwork = private", "list` shows, or none or auto. Jobs that name"),
        ):
            self.shows(name, FAILURE, words, f"[manager]\n{options}\n")
        for options in (f"image = {uuid}\nnetwork = {uuid}", "image = none\nnetwork = auto"):
            self.assertEqual(SUCCESS, self.check(f"[manager]\n{options}\n")[0])

    def test_metrics_of_an_agent_that_measures_nothing(self):
        port, off = "[agent]\nmetrics_port = 9711\n", "sample_interval = 0\n"
        words = "metrics_port is 9711, but nobody listens there: with sample_interval = 0"
        self.shows("Metrics of the node agent", WARNING, words, port + off)
        self.assertEqual(SUCCESS, self.check(port)[0])
        self.assertEqual(SUCCESS, self.check(f"[agent]\n{off}")[0])
        wrong = "[agent]\nmetrics_port = 70000\n"
        self.shows("Metrics of the node agent", FAILURE, "metrics_port", wrong)

    def test_single_options(self):
        for name, change, words in (
            ("One attempt for a gang", "[scheduler]\nmax_attempts = 3", "set it to 1"),
            (
                "The best host wins",
                "[filter_scheduler]\nhost_subset_size = 2",
                "set host_subset_size to 1;",
            ),
            (
                "The best host wins",
                "[filter_scheduler]\nshuffle_best_same_weighed_hosts = true",
                "shuffle_best_same_weighed_hosts to false",
            ),
            (
                "Preempted jobs and quota",
                "[quota]\ncount_usage_from_placement = false",
                "[quota]count_usage_from_placement to true",
            ),
            (
                "Preempted jobs and slots",
                "[DEFAULT]\nshelved_offload_time = -1",
                "shelved_offload_time is -1: set it to 0",
            ),
            (
                "Deleted servers and slots",
                "[DEFAULT]\nreclaim_instance_interval = 3600",
                "reclaim_instance_interval is 3600: set it to 0",
            ),
        ):
            self.shows(name, WARNING, words, f"{change}\n")


class TestUnifiedLimits(StatusCase):
    """Nova takes a limit that Keystone does not have for 0, if its options say so."""

    NAME = "Unified limits"
    DRIVER = (
        "[quota]\ndriver = nova.quota.UnifiedLimitsDriver\n"
        "count_usage_from_placement = false\nmetadata_items = 10\n"
    )
    IGNORE = f"{DRIVER}unified_limits_resource_strategy = ignore\n"
    SERVERS = {
        "servers": 10,
        "class:CUSTOM_TWOTIER_SLOT": -1,
        "class:VCPU": 20,
        "class:MEMORY_MB": -1,
        "class:DISK_GB": -1,
        "server_metadata_items": 128,
    }
    GROUPS = {"server_groups": 10, "server_group_members": 10}

    def register(self, limits):
        name = "nova_twotier.audit.unified_limits.registered"
        self.useFixture(fixtures.MonkeyPatch(name, lambda *_: limits))

    def test_all_that_nova_requires(self):
        self.register({"servers": 10})
        self.assertEqual(SUCCESS, self.check(self.DRIVER)[0])
        self.register({**self.SERVERS, **self.GROUPS})
        self.assertEqual(SUCCESS, self.check(self.IGNORE)[0])

    def test_what_servers_need(self):
        self.register({})
        self.shows(self.NAME, FAILURE, "registered limit of servers for", self.DRIVER)
        some = {**self.SERVERS, **self.GROUPS}
        del some["class:CUSTOM_TWOTIER_SLOT"]
        self.register(some)
        words = "registered limit of class:CUSTOM_TWOTIER_SLOT for"
        self.shows(self.NAME, FAILURE, words, self.IGNORE)
        ignored = f"{self.IGNORE}unified_limits_resource_list = class:CUSTOM_TWOTIER_SLOT\n"
        self.assertEqual(SUCCESS, self.check(ignored)[0])

    def test_what_a_flavor_needs(self):
        self.register({**self.SERVERS, **self.GROUPS})
        specs = {**FLAVOR, "resources:CUSTOM_GPU": "1", "resources:MEMORY_MB": "0"}
        found = deployed(flavors={"slot": specs})
        self.shows(self.NAME, FAILURE, "limit of class:CUSTOM_GPU for", self.IGNORE, found=found)

    def test_each_flavor_counts(self):
        some = {**self.SERVERS, **self.GROUPS}
        del some["class:VCPU"]
        self.register(some)
        none, pinned = {**FLAVOR, "resources:VCPU": "0"}, {**FLAVOR, "hw:cpu_policy": "dedicated"}
        for flavors in ({"none": none, "slot": FLAVOR}, {"slot": FLAVOR, "none": none}):
            found = deployed(flavors=flavors)
            self.shows(self.NAME, FAILURE, "limit of class:VCPU for", self.IGNORE, found=found)
        _code, results = self.check(self.IGNORE, found=deployed(flavors={"pinned": pinned}))
        self.assertIn("limit of class:PCPU for", results[self.NAME][1])

    def test_server_groups(self):
        self.register(self.SERVERS)
        words = "limit of server_group_members, server_groups, which"
        self.shows(self.NAME, WARNING, words, self.IGNORE)

    def test_metadata_items(self):
        self.register({"servers": 10, "server_metadata_items": 20})
        self.shows(self.NAME, WARNING, "server_metadata_items is 20: set it to 48", self.DRIVER)

    def test_a_keystone_that_is_not_there(self):
        self.shows(self.NAME, WARNING, "not checked: Keystone's catalog has no", self.DRIVER)


class TestKeys(StatusCase):
    """Nobody reads a key that is misspelt: the check names the one that is meant."""

    def test_aggregates(self):
        for key, meant in (
            ("twotier:slot", "twotier:slots"),
            ("twotier:Slots", "twotier:slots"),
            ("TwoTier:tiers ", "twotier:tiers"),
            ("twotier:uplinks_mbps", "twotier:uplink_mbps"),
            ("twotier_slots", "twotier:slots"),
            ("twotier_adaba_weight_multipler", "twotier_adaba_weight_multiplier"),
        ):
            found = deployed(aggregates={"batch": {"twotier:slots"}, "rack 1": {key, "ssd"}})
            words = f"nobody reads: {key} in rack 1 (did you mean {meant}?); there are "
            self.shows("Keys of aggregates", WARNING, words, found=found)

    def test_a_key_like_none_of_ours(self):
        found = deployed(aggregates={"batch": {"twotier:zzz"}})
        words = "nobody reads: twotier:zzz in batch; there are twotier:slots, twotier:tiers, "
        self.shows("Keys of aggregates", WARNING, words, found=found)

    def test_all_keys_that_are_read(self):
        of_aggregates = {f"twotier:{name}" for name in ("slots", "tiers", "switch", "pool")}
        of_aggregates |= {"twotier:uplink_mbps"}
        of_aggregates |= {f"twotier_{name}_weight_multiplier" for name in ("adaba", "complement")}
        others = {"instance_type", "twotier_hosts", "slots", "trait:CUSTOM_TWOTIER"}
        found = deployed(aggregates={"batch": of_aggregates | others})
        self.assertEqual(SUCCESS, self.check(found=found)[0])

    def test_flavors(self):
        """Also of flavors without a slot, which a misspelt key may be meant to give them."""
        for key, meant in (
            ("twotier:job_only", "twotier:jobs_only"),
            ("twotier:tier_s", "twotier:tiers"),
            ("twotier:preemtible", "twotier:preemptible"),
        ):
            for flavor in (FLAVOR, {}):
                found = deployed(flavors={"slot": FLAVOR, "other": {**flavor, key: "true"}})
                words = f"nobody reads: {key} in other (did you mean {meant}?); there are "
                self.shows("Keys of flavors", WARNING, words, found=found)


class TestMistakes(StatusCase):
    def broken(self, gather):
        options = ["--config-file", str(SHIPPED), "--config-file", self.access]
        with fixtures.MonkeyPatch("nova_twotier.audit.checks.facts.gather", gather):
            code, out, err = self.main(*options, "upgrade", "check", "--json")
        self.assertEqual("", err)
        results = {check["check"]: check for check in json.loads(out)["checks"]}
        not_checked = {results[name]["details"] for name, _check in status.DEPLOYMENT}
        self.assertEqual({"not checked: see Nova and Placement"}, not_checked)
        self.assertEqual(FAILURE, code)
        return results["Nova and Placement"]["details"]

    def test_cloud_does_not_answer(self):
        """Nothing listens at the discard port."""
        self.assertIn("Placement does not answer", self.broken(facts.gather))

    def test_errors_take_one_line(self):
        def gather(*_):
            raise PlacementUnavailable("no\nanswer")

        self.assertEqual("no answer", self.broken(gather))

    def test_no_access(self):
        code, out, _err = self.main("--config-file", str(SHIPPED), "upgrade", "check")
        self.assertEqual(FAILURE, code)
        self.assertIn("[placement] has no auth_type", out)
        self.assertNotIn("Traceback", out)

    def test_wrong_value(self):
        wrong = self.write("wrong.conf", "[scheduler]\nmax_attempts = often\n")
        code, out, _err = self.main("--config-file", wrong, "upgrade", "check", "--json")
        results = {each["check"]: each for each in json.loads(out)["checks"]}
        self.assertEqual(SUCCESS, results["Configuration of Nova"]["result"])
        result = results["One attempt for a gang"]
        self.assertEqual((FAILURE, FAILURE), (code, result["result"]))
        self.assertIn(wrong, result["details"])
        self.assertNotIn("LocationInfo", result["details"])

    def test_no_such_file(self):
        code, out, err = self.main("--config-file", "/none.conf", "upgrade", "check")
        self.assertEqual((255, ""), (code, out))
        self.assertEqual("nova-twotier-status: no such configuration file: /none.conf\n", err)

    def test_nova_need_not_be_installed(self):
        program = (
            "import sys; sys.modules['nova'] = None; "
            "from nova_twotier.cmd import status; sys.exit(status.main(sys.argv[1:]))"
        )
        options = ["--config-file", str(SHIPPED), "upgrade", "check"]
        done = subprocess.run(
            [sys.executable, "-c", program, *options], capture_output=True, text=True, check=False
        )
        self.assertEqual((FAILURE, ""), (done.returncode, done.stderr))
