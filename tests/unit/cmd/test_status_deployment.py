"""`nova-twotier-status upgrade check`: aggregates, flavors and hosts of a deployment."""

import dataclasses

from nova_twotier.ledger.shape import Shape
from tests.unit.cmd.status_case import (
    FAILURE,
    FLAVOR,
    ISOLATED,
    SUCCESS,
    WARNING,
    StatusCase,
    deployed,
)


class TestDeployment(StatusCase):
    def test_no_two_tier_host(self):
        self.shows("Two-tier hosts", FAILURE, "twotier:slots", found=deployed(shapes={}))

    def test_hosts_that_placement_does_not_know(self):
        """Such as one that was renamed: its aggregate still has the former name."""
        found = deployed(vcpus={"b": 16})
        self.shows("Two-tier hosts", WARNING, "has the name of a, so that", found=found)

    def test_a_pool_that_no_job_can_name(self):
        """A host whose twotier:pool is misspelt stays idle; upgrade check warns of it."""
        found = deployed({"a": Shape(8, 2), "b": Shape(8, 2, pool="gup")})
        ours = "[manager]\npools = default, gpu\n"
        words = "(default, gpu) lacks the pool of b (gup), so that"
        self.shows("Pools of hosts", WARNING, words, ours, found=found)
        words = "(gpu) lacks the pool of a (default), b (gup), so that"
        self.shows("Pools of hosts", WARNING, words, "[manager]\npools = gpu\n", found=found)
        _code, results = self.check("[manager]\npools = default, gup\n", found=found)
        self.assertEqual((SUCCESS, None), results["Pools of hosts"])
        # That of nova-scheduler does not say which pools there are.
        _code, results = self.check(found=found)
        result, details = results["Pools of hosts"]
        self.assertEqual((SUCCESS, "not checked: "), (result, details[:13]))

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

    def test_flavor_of_jobs_that_name_none(self):
        for given, words in (
            ("slots", "'slots', which does not exist: give one that asks for a slot (slot)"),
            ("m1", "'m1', which asks for no slot: give one that asks for a slot (slot)"),
            ("m1-id", "'m1-id', which asks for no slot"),
        ):
            self.shows("Flavor of jobs", FAILURE, words, f"[manager]\nflavor = {given}\n")
        for given in ("slot", "slot-id"):
            self.assertEqual(SUCCESS, self.check(f"[manager]\nflavor = {given}\n")[0], given)

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
