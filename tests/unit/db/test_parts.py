"""What statements are asked about in parts."""

import fixtures
import testtools

from nova_twotier.db import arrays, parts
from tests.new_databases import new_store


class TestParts(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.db.parts.MANY", 2))

    def test_each_value_once(self):
        self.assertEqual([[1, 2], [3]], list(parts.in_parts([3, 1, 2, 1])))
        self.assertEqual([], list(parts.in_parts([])))

    def test_arrays(self):
        store = new_store(
            self, f"sqlite:///{self.useFixture(fixtures.TempDir()).path}/queue.sqlite"
        )
        tasks = arrays.Tasks("0-2", most_at_once=1)
        numbers = [store.submit(1, [1.0], tasks=tasks).number for _each in range(3)]
        with store.reading() as session:
            self.assertEqual(dict.fromkeys(numbers, 1), arrays.limits(session, numbers))
            self.assertEqual(numbers, list(arrays.whole(session, numbers)))
            waiting = arrays.waiting(session, numbers)
        self.assertEqual({number: [0, 1, 2] for number in numbers}, waiting)
