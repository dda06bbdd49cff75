"""The pools as tenants see them: sums over hosts, and the lengths of queues."""

import fixtures

from nova_twotier.api import errors
from nova_twotier.api.site import Site
from nova_twotier.db.states import JobState
from nova_twotier.ledger.shape import Shape
from tests.unit.api.case import ApiCase
from tests.unit.api.network import BG, FG, Network

SHAPES = {
    "a": Shape(4, 2),
    "b": Shape(4, 3),
    "c": Shape(2, 2),
    "g": Shape(8, 1, pool="gpu"),
    "x": Shape(8, 2, pool="elsewhere"),
}


class Cloud(Network):
    """Hosts without links.

    :ivar closed: slots of hosts that are closed to the background.
    :ivar asked: URLs of the requests to Placement.
    """

    def __init__(self):
        super().__init__(SHAPES)
        self.closed, self.asked = {}, []

    def get(self, url):
        self.asked.append(url)
        return super().get(url)

    def _tiers(self):
        """Placement shows only the hosts that have a free place in one of the tiers."""
        found = {}
        for uuid, summary in super()._tiers().items():
            host = summary["root_provider_uuid"]
            shape = self.by_name[host]
            slot = summary["resources"]["CUSTOM_TWOTIER_SLOT"]
            if "CUSTOM_TWOTIER_BG" in summary["traits"]:
                slot["capacity"] = shape.places(BG, self.closed.get(host, 0))
            full = all(self.held.get((host, t), 0) >= shape.places(t) for t in (FG, BG))
            if not full:
                found[uuid] = summary
        return found


class TestPools(ApiCase):
    OPTIONS = "[manager]\npools = default, gpu, empty\npolicy = cmcbf"

    def setUp(self):
        super().setUp()
        self.cloud = Cloud()
        for service in ("placement", "aggregates"):
            self.useFixture(fixtures.MockPatchObject(Site, service, self.cloud))

    def pools(self, by="alice:demo:reader"):
        found = self.answered(200, self.get("/v1/pools", by))["pools"]
        return {pool["name"]: pool for pool in found}

    def room(self, pool="default"):
        """Available hosts, and free places in both tiers."""
        # The application is made anew: the last one keeps the sums.
        self.application = self.make()[1]
        shown = self.pools()[pool]
        return shown["hosts"]["available"], *(
            shown[tier]["free"] for tier in ("foreground", "background")
        )

    def test_idle(self):
        pools = self.pools()
        self.assertEqual(["default", "gpu", "empty"], list(pools))
        policy = pools["default"].pop("policy")
        self.assertEqual(("cmcbf", None), (policy["name"], policy["set_to"]))
        self.assertEqual(
            {
                "name": "default",
                "mode": "active",
                "hosts": {"total": 3, "available": 3},
                "slots": 10,
                "foreground": {"places": 10, "free": 10},
                "background": {"places": 14, "free": 14},
                "jobs": {"waiting": 0, "running": 0},
                "processes": {"waiting": 0, "running": 0},
            },
            pools["default"],
        )
        self.assertEqual({"places": 0, "free": 0}, pools["gpu"]["background"])
        self.assertEqual({"total": 0, "available": 0}, pools["empty"]["hosts"])

    def test_no_host_is_named(self):
        self.submit(name="secret", by="bob:other")
        text = self.get("/v1/pools").text
        for word in ("secret", "other", '"a"', "elsewhere"):
            self.assertNotIn(word, text)

    def test_places_in_use(self):
        self.cloud.held = {("a", FG): 3, ("b", BG): 5, ("c", FG): 2, ("c", BG): 2}
        self.assertEqual((3, 5, 7), self.room())

    def test_closed_slots_are_not_free(self):
        self.cloud.closed = {"a": 2, "b": 1}
        self.cloud.held = {("a", FG): 2, ("b", FG): 1}
        self.assertEqual((3, 7, 10), self.room())
        # More run there than may, until they are moved.
        self.cloud.held[("a", BG)] = 4
        self.assertEqual((3, 7, 8), self.room())

    def test_hosts_that_take_nothing(self):
        self.cloud.down = {"b"}
        self.assertEqual((2, 6, 6), self.room())
        self.assertEqual(3, self.pools()["default"]["hosts"]["total"])
        self.assertEqual(14, self.pools()["default"]["background"]["places"])

    def test_jobs_of_all_projects(self):
        self.submit(size=3)
        self.change(self.submit("bob:other", size=5), state=JobState.RUNNING)
        self.change(self.submit("bob:other"), state=JobState.ENDING)
        self.change(self.submit(), state=JobState.FINISHED, finished_at=1.0)
        self.submit(pool="gpu", size=2, held=True)
        pools = self.pools()
        self.assertEqual({"waiting": 1, "running": 2}, pools["default"]["jobs"])
        self.assertEqual({"waiting": 3, "running": 6}, pools["default"]["processes"])
        self.assertEqual({"waiting": 1, "running": 0}, pools["gpu"]["jobs"])

    def test_mode_and_policy_are_each_pools_own(self):
        for body in ({"mode": "draining"}, {"policy": "easy"}):
            path = "/v1/queue?pool=gpu"
            self.answered(200, self.ask("PATCH", path, "admin", json=body))
        pools = self.pools()
        self.assertEqual(("draining", "easy"), (pools["gpu"]["mode"], self.policy(pools["gpu"])))
        found = pools["default"]["mode"], self.policy(pools["default"])
        self.assertEqual(("active", "cmcbf"), found)

    def policy(self, pool):
        return pool["policy"]["name"]

    def test_many_requests_read_the_cloud_once(self):
        for by in ("alice:demo", "bob:other", "admin"):
            self.pools(by)
        self.assertEqual(2, len(self.cloud.asked), self.cloud.asked)
        # The queues are not cached.
        self.submit()
        self.assertEqual(1, self.pools()["default"]["jobs"]["waiting"])

    def test_full_hosts_cost_no_request_of_their_own(self):
        self.cloud.held = {(host, tier): 16 for host in SHAPES for tier in (FG, BG)}
        self.assertEqual((3, 0, 0), self.room())
        self.assertEqual(2, len(self.cloud.asked), self.cloud.asked)

    def test_without_two_tier_hosts(self):
        self.cloud.by_name = {}
        self.assertEqual((0, 0, 0), self.room())
        self.assertEqual(["/resource_providers"], self.cloud.asked)

    def test_a_host_that_is_not_in_the_ledger_yet(self):
        known = dict(SHAPES)
        self.cloud.available = lambda: ({**known, "new": Shape(4, 2)}, {*known, "new"})
        self.assertEqual((3, 10, 14), self.room())

    def test_nova_does_not_answer(self):
        def refuse():
            raise errors.unavailable("Nova")

        self.cloud.available = refuse
        for _time in range(2):
            [detail] = self.refused(503, "service.unavailable", self.get("/v1/pools"))
            self.assertEqual("Nova does not answer; try again later", detail)
