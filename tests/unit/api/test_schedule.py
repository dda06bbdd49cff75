"""The schedule that is shown: to whom what, in which window, on which page."""

import json
from datetime import UTC, datetime
from urllib.parse import urlsplit

from nova_twotier.api.schedule import in_order
from nova_twotier.db.models import Place
from nova_twotier.db.states import JobState
from tests.unit.api.test_predictions import PredictedCase

OPERATOR = "carol:ops:admin"
HOUR, DAY = 3600.0, 86400.0


def text(seconds):
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


class ScheduleCase(PredictedCase):
    def setUp(self):
        super().setUp()
        self.now = float(int(self.now))  # As a query can have it.

    def schedule(self, query="", by="alice:demo"):
        return self.answered(200, self.get(f"/v1/schedule?{query}", by))

    def window(self, begin, end=None):
        """As a query: seconds from now on."""
        query = f"from={text(self.now + begin)}" + (f"&to={text(self.now + end)}" if end else "")
        return query.replace("+", "%2B")

    def pages(self, query, by="alice:demo"):
        """Every page of it."""
        found = []
        while True:
            found.append(self.schedule(query, by))
            if not found[-1]["links"]:
                return found
            [link] = found[-1]["links"]
            query = urlsplit(link["href"]).query

    def run_now(self, job, since=-60.0, hosts=("host1",), tier="fg"):
        """A job runs since some seconds from now, a process on each host."""
        self.change(job, state=JobState.RUNNING, tier=tier)
        for process, host in enumerate(hosts):
            self.hold_slot(job, process, tier, host, self.now + since, slot=2)


class TestStays(ScheduleCase):
    def test_an_own_job(self):
        self.run_now(self.job)
        self.predict(self.job, start=None, start_low=None, start_high=None)
        self.predict_pool()
        [stay] = self.schedule()["stays"]
        self.assertEqual(
            {
                "slot": 2,
                "tier": "fg",
                "from": text(self.now - 60.0),
                "to": None,
                "predicted_to": text(self.now + 4800.0),
                "predicted_to_low": text(self.now + 4000.0),
                "predicted_to_high": text(self.now + 5000.0),
                "size": 8,
                "pool": "default",
                "process": 0,
                "job": {
                    "number": self.job["number"],
                    "uuid": self.job["uuid"],
                    "name": "mine",
                    "project_id": "demo",
                    "array": None,
                },
            },
            {name: value for name, value in stay.items() if name != "host"},
        )

    def test_nothing_is_predicted_of_a_stay_that_is_over(self):
        self.predict(self.job, start=None, start_low=None, start_high=None)
        self.predict_pool()
        self.hold_slot(self.job, 0, since=self.now - 90.0, until=self.now - 60.0)
        self.run_now(self.job)
        before, present = self.schedule()["stays"]
        self.assertEqual((text(self.now - 60.0), None), (before["to"], before["predicted_to"]))
        self.assertIsNotNone(present["predicted_to"])

    def test_a_suspension_is_a_gap(self):
        """The job has no stay while it has no slot, whatever becomes of it later."""
        self.hold_slot(self.job, 0, since=self.now - 90.0, until=self.now - 60.0)
        self.change(self.job, state=JobState.QUEUED, saved=True)
        self.assertEqual([], self.schedule(self.window(-50.0))["stays"])
        self.run_now(self.job, since=-30.0)
        spans = [(stay["from"], stay["to"]) for stay in self.schedule()["stays"]]
        at = (text(self.now + each) for each in (-90.0, -60.0, -30.0))
        self.assertEqual([(next(at), next(at)), (next(at), None)], spans)
        self.assertEqual([], self.schedule(self.window(-60.0, -30.0))["stays"])

    def test_the_window(self):
        for begin in range(5):
            self.hold_slot(
                self.job, 0, since=self.now + 10.0 * begin, until=self.now + 10.0 * (begin + 1)
            )
        shown = self.schedule(self.window(10.0, 30.0))
        self.assertEqual(
            [text(self.now + 10.0), text(self.now + 20.0)],
            [stay["from"] for stay in shown["stays"]],
        )
        self.assertEqual(
            (text(self.now + 10.0), text(self.now + 30.0)), (shown["from"], shown["to"])
        )

    def test_a_day_without_a_window(self):
        for begin in (-2 * DAY, -DAY + HOUR, 0.0):
            self.hold_slot(self.job, 0, since=self.now + begin, until=self.now + begin + 1.0)
        shown = self.schedule()
        self.assertEqual(2, len(shown["stays"]))
        begin = datetime.fromisoformat(shown["from"]).timestamp()
        self.assertEqual(0, begin % HOUR)
        self.assertTrue(self.now - DAY - HOUR <= begin <= self.now - DAY, shown["from"])
        self.assertIsNone(shown["to"])

    def test_the_first_day_and_a_window_that_ends_late(self):
        for query, begin in (
            ("to=1970-01-01T12:00:00Z", "1970-01-01T00:00:00.000+00:00"),
            (self.window(-31 * 86400) + "&to=9999-12-30T00:00:00Z", text(self.now - 31 * 86400)),
        ):
            self.assertEqual(begin, self.schedule(query)["from"])

    def test_what_changed_since(self):
        """It began or ended since, in the window, on one page or on several."""
        spans = ((-90, -80), (-70, -30), (-65, None), (-40, -35), (-30, None), (-20, -10))
        for slot, (begin, end) in enumerate(spans):
            until = None if end is None else self.now + end
            self.hold_slot(self.job, 0, since=self.now + begin, until=until, slot=slot)
        since = self.window(-30.0).replace("from", "changed_since")
        for window, slots in ((-100.0, [1, 4, 5]), (-30.0, [4, 5]), (-15.0, [4, 5]), (-5.0, [4])):
            query = f"{self.window(window)}&{since}"
            for limit in (1, 10):
                pages = self.pages(f"{query}&limit={limit}")
                found = [stay["slot"] for page in pages for stay in page["stays"]]
                self.assertEqual(slots, found, (window, limit))

    def test_a_pool(self):
        self.run_now(self.job)
        self.assertEqual(1, len(self.schedule("pool=default")["stays"]))
        self.assertEqual([], self.schedule("pool=gpu")["stays"])

    def test_the_first_hosts(self):
        """By name, with numbers by their value; for tenants by what stands for the name."""
        names = ["node2", "node10", "node9", "rack1-node1"]
        for at, name in enumerate(names):
            for slot in range(2):
                since = self.now - 90.0 + at
                self.hold_slot(self.job, 0, host=name, since=since, slot=slot)
        self.hold_slot(self.job, 0, host="gone", since=self.now - 500.0, until=self.now - 400.0)
        window = self.window(-100.0)
        for by, ordered in (
            (OPERATOR, ["node2", "node9", "node10", "rack1-node1"]),
            ("alice:demo", None),
        ):
            every = {stay["host"] for stay in self.schedule(window, by)["stays"]}
            ordered = ordered or sorted(every, key=in_order)
            for count in range(1, 6):
                query = f"{window}&first_hosts={count}&limit=3"
                stays = [each for page in self.pages(query, by) for each in page["stays"]]
                self.assertEqual(set(ordered[:count]), {stay["host"] for stay in stays})
                self.assertEqual(2 * min(count, 4), len(stays))
                self.assertEqual(sorted(stay["from"] for stay in stays), [s["from"] for s in stays])

    def test_a_stay_of_an_earlier_release(self):
        self.hold_slot(self.job, 0, since=self.now, slot=None)
        self.assertIsNone(self.schedule()["stays"][0]["slot"])

    def test_mistakes(self):
        for query, words in (
            (self.window(5.0, 5.0), "to: give a time after from"),
            ("from=yesterday", "from: give a time with its zone"),
            ("from=0001-01-01T00:00:00%2B14:00", "from: give a time from 1970 to 9999"),
            ("to=9999-12-31T23:59:59-14:00", "to: give a time from 1970 to 9999"),
            (self.window(-33 * 86400), "from: give a time at most 31 days before to"),
            (self.window(-66 * 86400, -33 * 86400), "from: give a time at most 31 days before to"),
            ("marker=7", "marker: "),
            ("changed_since=yesterday", "changed_since: give a time with its zone"),
            ("part=all", "part: "),
            ("first_hosts=0", "first_hosts: give at least 1"),
            ("marker=1.0000000_9999999999", "marker: there is no such stay"),
        ):
            [detail] = self.refused(400, "request.invalid", self.get(f"/v1/schedule?{query}"))
            self.assertIn(words, detail)


class TestPredicted(ScheduleCase):
    def test_a_waiting_job(self):
        self.predict(self.job)
        self.predict_pool()
        shown = self.schedule()
        self.assertEqual([], shown["stays"])
        [row] = shown["predicted"]
        self.assertEqual((8, "default", "mine"), (row["size"], row["pool"], row["job"]["name"]))
        for field, seconds in (
            ("from", 1200.0),
            ("from_low", 900.0),
            ("from_high", 1800.0),
            ("to", 4800.0),
            ("to_low", 4000.0),
            ("to_high", 5000.0),
            ("predicted_at", -1.0),
        ):
            self.assertEqual(text(self.now + seconds), row[field], field)
        self.assertEqual([], self.schedule(self.window(0.0, 1000.0))["predicted"])
        self.assertEqual([], self.schedule(self.window(4800.0))["predicted"])

    def test_nothing_outdated(self):
        """As in the list of jobs."""
        self.predict(self.job)
        self.predict_pool()
        self.store.set_queue_mode("default", "paused")
        self.assertEqual([], self.schedule()["predicted"])
        self.store.set_queue_mode("default", "active")
        self.assertEqual(1, len(self.schedule()["predicted"]))
        self.last_beat(self.now - DAY)
        self.assertEqual([], self.schedule()["predicted"])


class TestPages(ScheduleCase):
    def test_every_size_of_page_shows_the_same(self):
        for number in range(4):
            self.hold_slot(self.job, 0, since=self.now - 9.0, until=self.now - 8.0 + number)
        self.run_now(self.theirs)
        for job in (self.job, self.first):
            self.predict(job)
        self.predict_pool()
        whole = self.schedule()
        self.assertEqual((5, 2), (len(whole["stays"]), len(whole["predicted"])))
        for size in range(1, 8):
            pages = self.pages(f"limit={size}")
            for name in ("stays", "predicted"):
                self.assertEqual(whole[name], [each for page in pages for each in page[name]], size)
            counts = [len(page["stays"]) + len(page["predicted"]) for page in pages]
            self.assertEqual(7, sum(counts))
            self.assertEqual({size}, {*counts[:-1], size})
            self.assertEqual({whole["from"]}, {page["from"] for page in pages})
            for part, name in (("recorded", "stays"), ("predicted", "predicted")):
                pages = self.pages(f"limit={size}&part={part}")
                found = [each for page in pages for each in (*page["stays"], *page["predicted"])]
                self.assertEqual(whole[name], found, (part, size))


class TestAnonymity(ScheduleCase):
    """What a tenant is told of jobs of other projects, and of hosts."""

    def setUp(self):
        super().setUp()
        self.change(self.theirs, size=54321)
        self.run_now(self.theirs, hosts=("node17", "node18"))
        self.waiting = self.submit("bob:other", name="secret2", size=3)
        self.predict(self.theirs, start=None, start_low=None, start_high=None)
        self.predict(self.waiting, starts_after=self.theirs["number"])
        self.predict_pool()

    def test_sizes_and_tiers_alone(self):
        shown = self.schedule()
        self.assertEqual(2, len(shown["stays"]))
        for stay in shown["stays"]:
            self.assertEqual((54321, "fg"), (stay["size"], stay["tier"]))
            self.assertEqual((None, None), (stay["job"], stay["process"]))
            self.assertIsNotNone(stay["predicted_to"])
        [predicted] = shown["predicted"]
        self.assertEqual((3, None), (predicted["size"], predicted["job"]))

    def test_no_names_on_any_page_for_any_reader(self):
        for role in ("reader", "member", "manager"):
            for page in self.pages("limit=1", f"alice:demo:{role}"):
                whole = json.dumps(page)
                for hidden in (
                    *("secret", "bob", "other", "node17", "node18"),
                    *(self.theirs["uuid"], self.waiting["uuid"]),
                ):
                    self.assertNotIn(hidden, whole)
                for item in (*page["stays"], *page["predicted"]):
                    numbers = [value for value in item.values() if isinstance(value, int)]
                    self.assertNotIn(self.theirs["number"], set(numbers) - {item.get("slot")})

    def test_ids_of_hosts(self):
        mine = {stay["host"] for stay in self.schedule()["stays"]}
        self.assertEqual(2, len(mine))
        self.assertEqual(mine, {stay["host"] for stay in self.schedule()["stays"]})
        # Two projects cannot put together what they know.
        theirs = {stay["host"] for stay in self.schedule(by="bob:other")["stays"]}
        self.assertEqual(set(), mine & theirs)

    def test_operators_see_all(self):
        for by in (OPERATOR, "nova:ops:service"):
            shown = self.schedule(by=by)
            self.assertEqual(
                [("node17", 0, "secret"), ("node18", 1, "secret")],
                [(each["host"], each["process"], each["job"]["name"]) for each in shown["stays"]],
            )
            self.assertEqual("other", shown["predicted"][0]["job"]["project_id"])


class TestPolicyFile(ScheduleCase):
    def make(self):
        (self.directory / "policy.yaml").write_text('"twotier:hosts:list:names": "@"\n')
        self.OPTIONS = f"[oslo_policy]\npolicy_file = {self.directory}/policy.yaml"
        return super().make()

    def test_operators_may_name_hosts_to_tenants(self):
        self.run_now(self.theirs, hosts=("node17",))
        [stay] = self.schedule()["stays"]
        self.assertEqual(("node17", None), (stay["host"], stay["job"]))


class TestHistory(ScheduleCase):
    def test_the_answer_is_no_longer_than_a_page(self):
        number = self.store.find(self.job["uuid"]).number
        common = {"job": number, "process": 0, "server": "s", "host": "a", "tier": "fg", "slot": 0}
        with self.store.transaction() as session:
            session.add_all(
                Place(since=self.now - each - 1.0, until=self.now - each, **common)
                for each in range(1500)
            )
        page = self.schedule()
        self.assertEqual((1000, 1), (len(page["stays"]), len(page["links"])))
