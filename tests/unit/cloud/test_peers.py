"""What Nova's metadata hold about a job: as much as fits, in values that any Nova takes."""

import base64

import testtools

from nova_twotier.cloud import peers
from nova_twotier.core.indexes import MOST_INDEX, MOST_TASKS
from nova_twotier.core.jobs import MAX_SIZE
from tests.unit.client.guest_case import gang, job, server

LONGEST_IPV4, LONGEST_IPV6 = "255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"


def addresses(items):
    """The addresses of each process."""
    parts = [items[f"twotier_peers_{at}"] for at in range(int(items["twotier_peers"]))]
    return " ".join(parts).split()


class TestItems(testtools.TestCase):
    def check(self, items):
        """Nova takes them, and at most 48 with the notice and the job's uuid."""
        self.assertLessEqual(len(items) + 2, 48)
        for key, value in items.items():
            self.assertRegex(key, r"\Atwotier_[a-z]+(_[0-9]+)?\Z")
            self.assertLessEqual(len(value), 255)
            self.assertTrue(value.isascii(), value)

    def test_the_largest_jobs(self):
        """As doc/tenant.md says."""
        for address, size in ((LONGEST_IPV4, 512), (LONGEST_IPV6, 192)):
            items = peers.running(job(size, name="\N{ROCKET}" * 255), gang(*[[address]] * size))
            self.check(items)
            self.assertEqual([address] * size, addresses(items))
            one_more = peers.running(job(size + 1), gang(*[[address]] * (size + 1)))
            self.assertEqual([address], addresses(one_more))

    def test_a_process_with_very_many_addresses(self):
        """As many as fit; all others keep theirs."""
        many = [LONGEST_IPV6] * 9
        items = peers.running(job(2), gang(many, ["10.0.0.5"]))
        self.check(items)
        self.assertEqual([",".join(many[:6]), "10.0.0.5"], addresses(items))

    def test_the_longest_name(self):
        items = peers.at_boot(job(name="\N{ROCKET}" * 255), ["lan"])
        self.check(items)
        parts = [items[f"twotier_name_{at}"] for at in range(int(items["twotier_name"]))]
        self.assertEqual("\N{ROCKET}" * 255, base64.b64decode("".join(parts)).decode())

    def test_a_task_of_the_largest_array(self):
        numbers = {"number": 2**31 - 1, "array": 2**31 - 1, "runs": 10**5, "walltime": 1e9}
        span = [MOST_TASKS, MOST_INDEX - MOST_TASKS + 1, MOST_INDEX]
        task = job(MAX_SIZE, array_index=MOST_INDEX, array_span=span, **numbers)
        items = peers.at_boot(task, ["lan"])
        self.check(items)
        words = items[peers.ENVIRONMENT].split()
        self.assertEqual(
            [
                "TWOTIER_ARRAY_NUMBER=2147483647",
                "TWOTIER_ARRAY_INDEX=999999",
                "TWOTIER_ARRAY_COUNT=10000",
                "TWOTIER_ARRAY_FIRST=990000",
                "TWOTIER_ARRAY_LAST=999999",
            ],
            [word for word in words if "ARRAY" in word],
        )

    def test_nothing_about_hosts(self):
        """Owners must not learn the names of compute hosts."""
        there = server(["10.0.0.5"])
        items = peers.running(job(2), [there, there]) | peers.saved(job(2), there)
        self.assertNotIn(there.host, {word for value in items.values() for word in value.split()})


class TestRestarts(testtools.TestCase):
    """How many runs there were before, whatever has become of the job between them."""

    def restarts(self, items):
        words = items[peers.ENVIRONMENT].split()
        return dict(word.split("=") for word in words)["TWOTIER_RESTARTS"]

    def test_while_it_waits_and_while_it_runs(self):
        for runs, since, expected in ((0, None, "0"), (1, 5.0, "0"), (1, None, "1"), (2, 5.0, "1")):
            one = job(runs=runs, run_since=since)
            self.assertEqual(expected, self.restarts(peers.at_boot(one, ["lan"])))
            self.assertEqual(expected, self.restarts(peers.running(one, [])))

    def test_before_it_is_shelved(self):
        """Its guests already find the number of their next run when they boot again."""
        self.assertEqual("1", self.restarts(peers.saved(job(), server([]))))

    def test_what_is_shown(self):
        items = peers.running(job(), gang(["10.0.0.5"], ["10.0.0.9"]))
        shown = server([], {**items, "mine": "1"})
        self.assertTrue(peers.shows(shown, items))
        self.assertFalse(peers.shows(shown, peers.running(job(name="other"), gang([], []))))
