"""`openstack twotier job list` with more jobs than fit on a page."""

from nova_twotier.db import models
from tests.unit.client.case import CommandCase


class TestManyJobs(CommandCase):
    """A thousand jobs of three users, in pages of a hundred."""

    OPTIONS = "max_limit = 100"
    MANY = 1000

    def setUp(self):
        super().setUp()
        states = [models.JobState.QUEUED, models.JobState.RUNNING]
        with self.store.transaction() as session:
            session.add_all(
                models.Job(
                    size=1,
                    cpu=[],
                    name=f"{'odd' if number % 2 else 'even'}-{number}",
                    submitted_at=float(number // 10),
                    project_id="demo",
                    user_id=("alice", "bob", "carol")[number % 3],
                    state=states[number % 5 == 0],
                )
                for number in range(self.MANY)
            )
        self.wire.asked.clear()

    def numbers(self, *options):
        rows = self.succeed("job", "list", *options, "-f", "value", "-c", "Name").splitlines()
        return [int(name.partition("-")[2]) for name in rows]

    def test_all_of_them(self):
        self.assertEqual([*reversed(range(self.MANY))], self.numbers())
        self.assertEqual(self.MANY / 100, len(self.wire.asked))

    def test_the_newest(self):
        self.assertEqual(
            [*reversed(range(self.MANY - 250, self.MANY))], self.numbers("--limit", "250")
        )
        self.assertEqual(3, len(self.wire.asked))

    def test_filters_combine(self):
        expected = [number for number in reversed(range(self.MANY)) if number % 30 == 10]
        options = ("--user", "bob", "--name", "even-*", "--state", "running")
        self.assertEqual(expected, self.numbers(*options))
        self.assertEqual(expected[:7], self.numbers(*options, "--limit", "7"))
