"""`nova-twotier-status upgrade check`: the nova.conf that we ship passes, each mistake shows."""

import dataclasses
import io
import json
import pathlib
import subprocess
import sys
import textwrap
from contextlib import redirect_stderr, redirect_stdout
from importlib import metadata

import fixtures
import testtools
from oslo_upgradecheck.upgradecheck import Code

from nova_twotier import conf as conf_package
from nova_twotier.audit.checks import facts
from nova_twotier.audit.checks.deployment import Facts
from nova_twotier.cmd import status
from nova_twotier.ledger.placement import PlacementUnavailable
from nova_twotier.ledger.shape import Shape

SHIPPED = pathlib.Path(conf_package.__file__).parent / "nova.conf"
SUCCESS, WARNING, FAILURE = Code
POLICY = SHIPPED.with_name("nova-policy.yaml")
FLAVOR = {
    "resources:CUSTOM_TWOTIER_SLOT": "1",
    "quota:cpu_shares": "1024",
    "twotier:jobs_only": "true",
}
#: Of the aggregate of all two-tier hosts: only for servers that require this trait.
ISOLATED = {"twotier:slots": {"8"}, "trait:CUSTOM_JOBS": {"required"}}


def deployed(
    shapes=None, ratios=None, flavors=None, metadata=ISOLATED, vcpus=None, aggregates=None
):
    shapes = {"a": Shape(8, 2), "b": Shape(8, 2)} if shapes is None else shapes
    ratios = dict.fromkeys(shapes, 2.0) if ratios is None else ratios
    flavors = {"slot": FLAVOR, "m1": {}} if flavors is None else flavors
    vcpus = vcpus or {host: shape.slots * shape.tiers for host, shape in shapes.items()}
    aggregates = {"batch": set(metadata)} if aggregates is None else aggregates
    return Facts(shapes, ratios, vcpus, flavors, dict.fromkeys(shapes, metadata), aggregates)


class StatusCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.access = self.write(
            "access.conf",
            f"""
            [nova]
            auth_type = none
            endpoint_override = http://127.0.0.1:9/v2.1
            [placement]
            auth_type = none
            endpoint_override = http://127.0.0.1:9
            [oslo_policy]
            policy_file = {POLICY}
            [scheduler]
            enable_isolated_aggregate_filtering = true
            """,
        )

    def write(self, name, text):
        path = self.directory / name
        path.write_text(textwrap.dedent(text))
        return str(path)

    def main(self, *args):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = status.main(list(args))
        return code, out.getvalue(), err.getvalue()

    def check(self, change="", found=None, nova_conf=str(SHIPPED)):
        """Exit code, and code and details of each check, on the shipped file and a change."""
        files = [nova_conf, self.access, self.write("change.conf", change)]
        options = [option for path in files for option in ("--config-file", path)]
        seen = found or deployed()
        with fixtures.MonkeyPatch("nova_twotier.audit.checks.facts.gather", lambda *_: seen):
            code, out, _err = self.main(*options, "upgrade", "check", "--json")
        return code, {
            check["check"]: (check["result"], check["details"])
            for check in json.loads(out)["checks"]
        }

    def shows(self, name, code, words, change="", **others):
        """One check has this result, and its details say these words; all others pass."""
        exit_code, results = self.check(change, **others)
        self.assertEqual(code, exit_code, results)
        result, details = results.pop(name)
        self.assertEqual(code, result)
        self.assertIn(words, details)
        self.assertEqual({SUCCESS}, {result for result, _details in results.values()}, results)


class TestConfiguration(StatusCase):
    def test_what_we_ship_passes(self):
        code, results = self.check()
        self.assertEqual(SUCCESS, code)
        everything = [name for name, _check in (*status.CONFIGURATION, *status.DEPLOYMENT)]
        self.assertEqual({*everything, "Nova and Placement"}, results.keys())
        result, details = results.pop("Access rules of the API")
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

    def test_quota_by_unified_limits(self):
        change = """\
            [quota]
            driver = nova.quota.UnifiedLimitsDriver
            count_usage_from_placement = false
            metadata_items = 10
            """
        code, results = self.check(change)
        self.assertEqual(SUCCESS, code)
        self.assertIn("in Keystone", results["Quota of metadata items"][1])


class TestDeployment(StatusCase):
    def test_no_two_tier_host(self):
        self.shows("Two-tier hosts", FAILURE, "twotier:slots", found=deployed(shapes={}))

    def test_hosts_that_placement_does_not_know(self):
        """Such as one that was renamed: its aggregate still has the former name."""
        found = deployed(vcpus={"b": 16})
        self.shows("Two-tier hosts", WARNING, "has the name of a, so that", found=found)

    def test_a_message_lists_few_of_many_hosts(self):
        many = {f"host{number:04}": Shape(8, 2) for number in range(2010)}
        enough = "[scheduler]\nmax_placement_results = 10000\n"
        known = deployed(many, vcpus={"host0000": 16})
        few = deployed(many, vcpus=dict.fromkeys(many, 1))
        low = deployed(many, ratios=dict.fromkeys(many, 1.0))
        for name, code, last, more, found in (
            ("Two-tier hosts", WARNING, "host0010", "1,999", known),
            ("CPUs of hosts", FAILURE, "host0009 (1 for 8 slots of 2 tiers)", "2,000", few),
            ("CPU allocation ratio", FAILURE, "host0009 (1)", "2,000", low),
        ):
            self.shows(name, code, f"{last} and {more} more", enough, found=found)

    def test_placement_results(self):
        change = "[scheduler]\nmax_placement_results = 3\n"
        name = "Limit of allocation candidates"
        self.shows(name, FAILURE, "2 two-tier hosts need at least 4", change)

    def test_cpu_ratio(self):
        tight = deployed(shapes={"a": Shape(8, 2), "b": Shape(8, 3)})
        self.shows("CPU allocation ratio", FAILURE, "tiers on b (2): set", found=tight)

    def test_cpu_ratio_where_no_flavor_claims_vcpus(self):
        tight = {"a": 1.0, "b": 1.0}
        for key, value in (("resources:VCPU", "0"), ("resources:VCPU", "00")):
            without = {"slot": {**FLAVOR, key: value}}
            found = deployed(ratios=tight, flavors=without)
            self.assertEqual(SUCCESS, self.check(found=found)[0], value)
            found = deployed(ratios=tight, flavors={**without, "other": FLAVOR})
            self.shows("CPU allocation ratio", FAILURE, "tiers on a (1), b (1): set", found=found)
        # A group's amount counts, too, beside the 0 of another.
        grouped = {"slot": {**FLAVOR, "resources:PCPU": "0", "resources1:VCPU": "1"}}
        found = deployed(ratios=tight, flavors=grouped)
        self.shows("CPU allocation ratio", FAILURE, "tiers on a (1), b (1): set", found=found)

    def test_vcpus(self):
        few = deployed(vcpus={"a": 16, "b": 15})
        words = "on b (15 for 8 slots of 2 tiers): set twotier:slots"
        self.shows("CPUs of hosts", FAILURE, words, found=few)

    def test_vcpus_that_no_flavor_claims(self):
        """With one tier, VMs may have CPUs of their own, which Placement counts apart."""
        for key, value in (
            ("hw:cpu_policy", "dedicated"),
            ("resources:PCPU", "1"),
            ("resources:VCPU", "0"),
        ):
            pinned = {"pinned": {**FLAVOR, key: value}}
            found = deployed({"a": Shape(28, 1)}, flavors=pinned, vcpus={"a": 4})
            self.assertEqual(SUCCESS, self.check(found=found)[0], key)
            found = dataclasses.replace(found, flavors={"slot": FLAVOR, **pinned})
            self.shows("CPUs of hosts", FAILURE, "on a (4 for 28 slots", found=found)

    def test_hosts_that_give_out_no_vcpus(self):
        """Those of pinned flavors are well: nova-compute has [compute]cpu_dedicated_set only."""
        pinned = {"pinned": {**FLAVOR, "hw:cpu_policy": "dedicated"}}
        shapes = {"a": Shape(8, 1), "b": Shape(28, 1)}
        found = deployed(shapes, vcpus={"a": 8, "b": 0}, flavors={"slot": FLAVOR, **pinned})
        self.assertEqual(SUCCESS, self.check(found=found)[0])
        found = dataclasses.replace(found, flavors={"slot": FLAVOR})
        self.shows("CPUs of hosts", FAILURE, "on b (0 for 28 slots", found=found)

    def test_no_job_has_a_server_group(self):
        """Nova's soft-affinity weigher is needed for server groups only."""
        few = "[filter_scheduler]\nweight_classes = nova_twotier.weighers.TierWeigher\n"
        name = "Weighers"
        self.shows(name, FAILURE, "refuses the soft-affinity group", few)
        self.assertEqual(SUCCESS, self.check(few + "[manager]\nlargest_server_group = 0\n")[0])

    def test_metadata_quota(self):
        name, words = "Quota of metadata items", "[quota]metadata_items is 20: set it to "
        self.shows(name, WARNING, words, "[quota]\nmetadata_items = 20\n")
        self.assertEqual(SUCCESS, self.check("[quota]\nmetadata_items = -1\n")[0])

    def test_flavors(self):
        two = {"two": {**FLAVOR, "resources:CUSTOM_TWOTIER_SLOT": "2"}}
        self.shows("Flavors", FAILURE, "no flavor asks", found=deployed(flavors={"m1": {}}))
        self.shows("Flavors", FAILURE, "SLOT=1 in two", found=deployed(flavors=two))

    def test_flavors_that_the_scheduler_refuses(self):
        for key, value, allowed in (
            ("twotier:tier", "background", "fg or bg"),
            ("twotier:tiers", "fg;bg", "fg, bg, fg,bg, bg,fg"),
            ("twotier:mbps", "1Gbit", "a number of Mbit/s, such as 250 or 12.5"),
            ("twotier:preemptible", "suspend", "shelve or delete"),
            ("resources:CUSTOM_TWOTIER_CPU", "1000", "1 to 100, percent of a slot"),
        ):
            found = deployed(flavors={"slot": FLAVOR, "other": {**FLAVOR, key: value}})
            words = (
                f"the scheduler refuses all servers of other ({key}={value}; allowed: {allowed})"
            )
            self.shows("Flavors", FAILURE, words, found=found)
        right = {"twotier:tier": "bg", "twotier:tiers": "fg,bg", "twotier:mbps": "12.5"}
        self.assertEqual(SUCCESS, self.check(found=deployed(flavors={"slot": FLAVOR | right}))[0])

    def test_slots_in_resource_groups(self):
        for key in ("resources1:CUSTOM_TWOTIER_SLOT", "resources_A:CUSTOM_TWOTIER_CPU"):
            # Nor do the filters see that it is for jobs only.
            found = deployed(flavors={"slot": FLAVOR, "other": {key: "1"}})
            self.shows("Flavors", FAILURE, f"SLOT in other ({key})", found=found)

    def test_cpus_of_their_own(self):
        for key, value in (
            ("hw:cpu_policy", "dedicated"),
            ("hw:cpu_policy", "mixed"),
            ("resources:PCPU", "1"),
            ("resources2:PCPU", "1"),
        ):
            pinned = {"slot": FLAVOR, "pinned": {**FLAVOR, key: value}}
            words = f"away from pinned ({key}={value})"
            self.shows("CPUs of flavors", FAILURE, words, found=deployed(flavors=pinned))
            alone = deployed(shapes={"a": Shape(8, 1)}, flavors=pinned)
            self.assertEqual(SUCCESS, self.check(found=alone)[0])
        for key, value in (("hw:cpu_policy", "shared"), ("resources:PCPU", "0")):
            shared = {"slot": {**FLAVOR, key: value}}
            self.assertEqual(SUCCESS, self.check(found=deployed(flavors=shared))[0], key)

    def test_cpu_shares(self):
        for shares, code, words in (
            (None, WARNING, "quota:cpu_shares=1024 in slot"),
            ("1", FAILURE, "slot (1)"),
            ("10001", FAILURE, "slot (10001)"),
            ("many", FAILURE, "slot (many)"),
        ):
            specs = {key: value for key, value in FLAVOR.items() if key != "quota:cpu_shares"}
            specs |= {"quota:cpu_shares": shares} if shares else {}
            found = deployed(flavors={"slot": specs})
            self.shows("CPU weights of flavors", code, words, found=found)


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


class TestOpenings(StatusCase):
    """Ways past the filters and the queue."""

    def test_release_of_nova(self):
        name = "Release of Nova"
        for version, fixed in (
            ("30.3.0", "31.3.1"),
            ("31.3.0", "31.3.1"),
            ("32.2.0", "32.2.1"),
            ("33.0.1", "33.0.2"),
        ):
            with fixtures.MonkeyPatch("importlib.metadata.version", lambda _name, v=version: v):
                self.shows(name, WARNING, f"Nova {version} accepts the hint _nova_check_type")
                self.shows(name, WARNING, f"upgrade to {fixed} or later")
        for version in ("31.3.1", "32.2.1", "33.0.2", "34.0.0", "35.0.0.0rc1"):
            with fixtures.MonkeyPatch("importlib.metadata.version", lambda _name, v=version: v):
                self.assertEqual(SUCCESS, self.check()[0], version)

    def test_nova_is_elsewhere(self):
        def version(name):
            raise metadata.PackageNotFoundError(name)

        with fixtures.MonkeyPatch("importlib.metadata.version", version):
            code, results = self.check()
        self.assertEqual(SUCCESS, code)
        self.assertIn("not checked: Nova is not installed here", results["Release of Nova"][1])

    def test_forced_hosts(self):
        rule = "os_compute_api:servers:create:forced_host"
        for text, words in (
            ("", "administrators may force servers onto hosts"),
            ('"other": "!"', "administrators may force servers onto hosts"),
            (f'"{rule}": "role:member"', "is 'role:member'), past the filters"),
        ):
            policy = self.write("policy.yaml", text)
            change = f"[oslo_policy]\npolicy_file = {policy}\n"
            self.shows("Servers on forced hosts", WARNING, words, change)
            self.shows("Servers on forced hosts", WARNING, f'"{rule}": "!"', change)

    def test_policy_that_is_elsewhere_or_broken(self):
        change = "[oslo_policy]\npolicy_file = nowhere.yaml\n"
        self.shows("Servers on forced hosts", WARNING, "not known, since no policy file", change)
        for text in ("- a list", "{"):
            policy = self.write("broken.yaml", text)
            change = f"[oslo_policy]\npolicy_file = {policy}\n"
            self.shows("Servers on forced hosts", FAILURE, "policy cannot be read: ", change)

    def test_a_directory_of_policies_that_is_a_file(self):
        wrong = self.write("policies.d", "")
        change = f"[oslo_policy]\npolicy_dirs = {wrong}\n"
        self.shows("Servers on forced hosts", FAILURE, "Not a directory", change)

    def test_access_rules_of_the_api(self):
        name = "Access rules of the API"
        policy = self.write("ours.yaml", "")
        change = f"[manager]\nflavor = tt.job\n[oslo_policy]\npolicy_file = {policy}\n"
        self.assertEqual((SUCCESS, None), self.check(change)[1][name])
        for text, words in (
            ('"a": "rule:b"\n"b": "rule:a"', "rules refer to each other in a circle: a -> b -> a"),
            ('"twotier:jobs:list": "rule:nobody"', "refers to the rule nobody, which does not"),
            ("{", "while parsing"),
        ):
            self.write("ours.yaml", text)
            self.shows(name, FAILURE, words, change)
            self.shows(name, FAILURE, f"policy file {policy}: ", change)
        directory = self.directory / "ours.d"
        directory.mkdir()
        (directory / "ours.conf").write_text(change)
        _code, out, _err = self.main("--config-dir", str(directory), "upgrade", "check", "--json")
        results = {check["check"]: check["details"] for check in json.loads(out)["checks"]}
        self.assertIn(f"policy file {policy}: ", results[name])

    def test_the_policy_of_the_api_is_not_novas(self):
        """Nova's policy file and ours have the same name, each beside its service's file."""
        name = "Servers on forced hosts"
        rule = "os_compute_api:servers:create:forced_host"
        change = "[manager]\nflavor = tt.job\n[oslo_policy]\npolicy_file = ours.yaml\n"
        self.write("ours.yaml", f'"{rule}": "@"\n')
        self.assertEqual((SUCCESS, None), self.check(change)[1][name])
        pathlib.Path(self.access).write_text(
            pathlib.Path(self.access).read_text().replace(str(POLICY), "ours.yaml")
        )
        self.shows(name, WARNING, f"is '@'), past the filters: write \"{rule}\"", change)

    def test_the_api_is_elsewhere(self):
        program = (
            "import sys; sys.modules['oslo_policy'] = None; "
            "from nova_twotier.cmd import status; sys.exit(status.main(sys.argv[1:]))"
        )
        ours = self.write("ours.conf", "[manager]\nflavor = tt.job\n")
        options = ["--config-file", ours, "upgrade", "check", "--json"]
        done = subprocess.run(
            [sys.executable, "-c", program, *options], capture_output=True, text=True, check=False
        )
        [details] = [
            check["details"]
            for check in json.loads(done.stdout)["checks"]
            if check["check"] == "Access rules of the API"
        ]
        self.assertEqual("not checked: run this where twotier-api is installed", details)

    def test_directories_of_policies(self):
        """As in Nova, the last file with the rule counts, and hidden files are skipped."""
        rule = "os_compute_api:servers:create:forced_host"
        directory = self.directory / "policies"
        directory.mkdir()
        (directory / "1.yaml").write_text(f'"{rule}": "@"')
        change = f"[oslo_policy]\npolicy_dirs = {directory}\n"
        self.shows("Servers on forced hosts", WARNING, "1.yaml lets servers", change)
        (directory / ".2.yaml").write_text(f'"{rule}": "!"')
        (directory / ".2.yaml.swp").write_bytes(b"b0VIM\x00\xff")
        self.shows("Servers on forced hosts", WARNING, "1.yaml lets servers", change)
        (directory / "2.yaml").write_text(f'"{rule}": "!"')
        self.assertEqual(SUCCESS, self.check(change)[0])

    def flavor(self, jobs_only=None, tiers=None, trait=None):
        specs = {key: value for key, value in FLAVOR.items() if key != "twotier:jobs_only"}
        specs |= {"twotier:jobs_only": jobs_only} if jobs_only else {}
        specs |= {"twotier:tiers": tiers} if tiers else {}
        specs |= {f"trait:CUSTOM_TWOTIER_{trait}": "required"} if trait else {}
        return deployed(flavors={"slot": specs})

    def test_servers_past_the_queue(self):
        name = "Servers past the queue"
        for flavor in ({}, {"tiers": "bg"}, {"jobs_only": "false"}, {"jobs_only": "perhaps"}):
            words = "with slot: set twotier:jobs_only=true, or"
            self.shows(name, WARNING, words, found=self.flavor(**flavor))
        for flavor in ({"jobs_only": "True"}, {"tiers": "bg", "trait": "BG"}):
            self.assertEqual(SUCCESS, self.check(found=self.flavor(**flavor))[0])

    def test_a_trait_of_another_tier(self):
        for tiers, shown in ((None, "not set"), ("bg", "bg"), ("fg,bg", "fg,bg")):
            found = self.flavor(tiers=tiers, trait="FG")
            words = f"in slot (twotier:tiers={shown})"
            self.shows("Servers past the queue", FAILURE, words, found=found)


class TestIsolation(StatusCase):
    """Servers without a slot on two-tier hosts: three ways to keep them away."""

    def filters(self, name):
        enabled = f"ComputeFilter,{name},TierFilter,BackgroundThresholdFilter,VirtualClusterFilter"
        return (
            f"[filter_scheduler]\nenabled_filters = {enabled}\n"
            "[scheduler]\nenable_isolated_aggregate_filtering = false\n"
        )

    def lets_in(self, change, *names, metadata=(), **others):
        """These flavors of all others get onto some host with this metadata besides its slots."""
        flavors = {"slot": FLAVOR, **others}
        host = {"twotier:slots": {"8"}, **dict(metadata)}
        found = deployed(flavors=flavors, metadata=host)
        if names:
            words = f"with the flavors {', '.join(names)}: add AggregateTypeAffinityFilter"
            self.shows("Servers without a slot", WARNING, words, change, found=found)
        else:
            self.assertEqual(SUCCESS, self.check(change, found=found)[0])

    def test_nothing_keeps_them_away(self):
        self.lets_in("", "m1", "m2", m1={}, m2={"hw:cpu_policy": "dedicated"})
        self.lets_in("")
        many = {f"m{number:02}": {} for number in range(12)}
        found = deployed(flavors={"slot": FLAVOR, **many}, metadata={})
        self.shows("Servers without a slot", WARNING, "m08, m09 and 2 more: add", found=found)
        self.shows("Servers without a slot", WARNING, "flavors (slot) in the", found=found)

    def test_aggregates_that_list_flavors(self):
        change = self.filters("AggregateTypeAffinityFilter")
        self.lets_in(change, "m1", m1={})
        listed = {"instance_type": {"slot", "m2"}}
        self.lets_in(change, "m2", metadata=listed, m1={}, m2={})
        self.lets_in(change, metadata=listed, m1={})
        without = self.filters("AllHostsFilter")
        self.lets_in(without, "m1", metadata=listed, m1={})

    def test_flavors_that_ask_for_other_aggregates(self):
        change = self.filters("AggregateInstanceExtraSpecsFilter")
        aside = {"aggregate_instance_extra_specs:kind": "plain"}
        self.lets_in(change, m1=aside, m2={"kind": "plain"})
        self.lets_in(change, metadata={"kind": {"jobs"}}, m1=aside)
        here = {"kind": {"jobs", "plain"}}
        self.lets_in(change, "m1", "m3", metadata=here, m1=aside, m3={"kind": "<or> a <or> b"})
        self.lets_in(change, "m1", m1={"hw:cpu_policy": "dedicated"})
        self.lets_in(change, m1={"aggregate_instance_extra_specs:rack:row": "7"})

    def test_aggregates_that_require_a_trait(self):
        wanted = {"trait:CUSTOM_JOBS": "required"}
        self.lets_in("", "m2", metadata=ISOLATED, m1={}, m2=wanted)
        forbidden = {"trait:CUSTOM_JOBS": "forbidden"}
        self.lets_in("", metadata=ISOLATED, m1=forbidden)
        self.lets_in("", "m1", metadata={"trait:CUSTOM_JOBS": {"forbidden"}}, m1={})
        off = self.filters("AllHostsFilter")
        self.lets_in(off, "m1", metadata=ISOLATED, m1={})

    def test_one_host_is_enough(self):
        found = deployed()
        found = dataclasses.replace(found, metadata={"a": ISOLATED, "b": {}})
        self.shows("Servers without a slot", WARNING, "with the flavors m1: add", found=found)


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
