"""When the cache of host names asks Nova for them again."""

import testtools

from nova_twotier.cloud.compute_hosts import RENEWAL, HostNameCache, HostNames


class TestHostNameCache(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.now, self.hypervisors, self.reads = 0.0, {"a": "a.example"}, 0
        self.cache = HostNameCache(self.read, lambda: self.now)

    def read(self):
        self.reads += 1
        return HostNames(self.hypervisors)

    def test_no_list_while_all_names_are_known(self):
        for _ in range(3):
            self.assertEqual("a.example", self.cache.refresh(["a"]).hypervisor("a"))
        self.cache.refresh([])
        self.assertEqual(1, self.reads)

    def test_a_new_host(self):
        """Its hypervisor may be listed a little later than its service."""
        self.cache.refresh(["a"])
        self.assertEqual("b", self.cache.refresh(["a", "b"]).hypervisor("b"))
        self.hypervisors = {**self.hypervisors, "b": "b.example"}
        self.assertEqual("b.example", self.cache.refresh(["a", "b"]).hypervisor("b"))
        self.cache.refresh(["a", "b"])
        self.assertEqual(3, self.reads)

    def test_a_host_that_gets_no_hypervisor(self):
        """The slower Nova lists them, the less it is asked on account of it."""

        def read():
            self.now += 3.0
            return self.read()

        cache = HostNameCache(read, lambda: self.now)
        for at, reads in ((0.0, 1), (10.0, 1), (29.0, 1), (30.0, 2)):
            self.now = at
            cache.refresh(["a", "broken"])
            self.assertEqual(reads, self.reads, at)

    def test_a_name_that_changed(self):
        self.cache.refresh(["a"])
        self.hypervisors, self.now = {"a": "renamed"}, RENEWAL - 1
        self.assertEqual("a.example", self.cache.refresh(["a"]).hypervisor("a"))
        self.now = RENEWAL
        self.assertEqual("renamed", self.cache.refresh(["a"]).hypervisor("a"))

    def test_a_new_term(self):
        self.cache.refresh(["a"])
        self.cache.forget()
        self.assertEqual("a.example", self.cache.names.hypervisor("a"))
        self.cache.refresh(["a"])
        self.assertEqual(2, self.reads)

    def test_a_list_that_failed_is_repeated(self):
        def fail():
            raise ValueError

        cache = HostNameCache(fail, lambda: self.now)
        for _ in range(2):
            self.assertRaises(ValueError, cache.refresh, ["a"])
