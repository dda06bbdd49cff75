"""Server groups are read page by page, and none is passed over."""

import itertools
import random

import testtools

from nova_twotier.cloud import server_groups


class TestListed(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.there = list(range(20))
        self.asked = 0

    def listed(self, page, meanwhile=lambda: None):
        """:param meanwhile: called after each page."""

        def read(offset):
            found = [{"id": str(group)} for group in self.there[offset : offset + page]]
            self.asked += 1
            self.assertLess(self.asked, 500, "it reads for ever")
            meanwhile()
            return found

        return [int(group["id"]) for group in server_groups.listed(read)]

    def test_all_of_them_once(self):
        for count in (0, 1, 2, 3, 20):
            self.there = list(range(count))
            for page in (1, 2, 3, 19, 20, 21):
                self.assertEqual(self.there, self.listed(page), (count, page))
                self.asked = 0

    def test_one_page_costs_two_requests(self):
        self.listed(1000)
        self.assertEqual(2, self.asked)

    def test_others_are_deleted_meanwhile(self):
        for seed in range(100):
            chance = random.Random(seed)
            self.there, self.asked = list(range(20)), 0
            new = itertools.count(20)

            def delete(chance=chance, new=new):
                for _ in range(chance.randrange(3)):
                    if len(self.there) > 3:
                        self.there.remove(chance.choice(self.there))
                if chance.random() < 0.3:
                    self.there.append(next(new))

            found = self.listed(chance.choice((2, 3, 7)), delete)
            self.assertEqual(sorted(set(found)), found, seed)
            self.assertLessEqual({each for each in self.there if each < 20}, set(found), seed)

    def test_so_many_that_the_next_page_is_empty(self):
        def delete():
            self.there = [0, *self.there[-2:]]

        self.assertEqual({0, 18, 19}, set(self.listed(10, delete)) & {0, 18, 19})
