"""Times of the future as people write them."""

import argparse
import time
from datetime import UTC, datetime, timedelta
from unittest import mock

import fixtures
import testtools

from nova_twotier.client import begin

#: On this machine, in these tests: half past seven in the evening in Berlin, in winter.
NOW = datetime(2026, 1, 31, 18, 30, 15, tzinfo=UTC)


class Clock(datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW.astimezone(tz) if tz else NOW.astimezone().replace(tzinfo=None)


class TestBegin(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.EnvironmentVariable("TZ", "Europe/Berlin"))
        time.tzset()
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.client.begin.datetime", Clock))

    def tearDown(self):
        super().tearDown()
        time.tzset()

    def parsed(self, text):
        return datetime.fromisoformat(begin.parse(text))

    def test_forms(self):
        for text, expected in (
            ("2026-02-01T12:00:00Z", datetime(2026, 2, 1, 12, tzinfo=UTC)),
            ("2026-02-01T12:00+02:00", datetime(2026, 2, 1, 10, tzinfo=UTC)),
            ("2026-02-01T12:00", datetime(2026, 2, 1, 11, tzinfo=UTC)),
            ("2026-02-01 12:00", datetime(2026, 2, 1, 11, tzinfo=UTC)),
            ("19:31", NOW.replace(minute=31, second=0)),
            ("19:30", NOW.replace(second=0) + timedelta(days=1)),
            ("7:05", datetime(2026, 2, 1, 6, 5, tzinfo=UTC)),
            ("now", NOW),
            ("now+2h", NOW + timedelta(hours=2)),
            ("now+60", NOW + timedelta(seconds=60)),
            ("1d12h", NOW + timedelta(hours=36)),
            (" 90M ", NOW + timedelta(minutes=90)),
        ):
            self.assertEqual(expected, self.parsed(text), text)

    def test_what_is_none(self):
        for text in (
            *("", "tomorrow", "2026-02-01", "20260201", "3600", "24:00", "12:60", "now-2h"),
            *("now+", "2026-13-01T00:00", "-5m"),
        ):
            error = self.assertRaises(argparse.ArgumentTypeError, begin.parse, text)
            self.assertIn("is not a time: give a time such as 2026-01-31T12:00", str(error))

    def test_what_is_too_late(self):
        for text in ("99999999999d", "now+12000d"):
            error = self.assertRaises(argparse.ArgumentTypeError, begin.parse, text)
            self.assertIn("is too long: give 1000000000 seconds, 30 years, or less", str(error))

    def test_the_day_on_which_clocks_change_is_shorter(self):
        with mock.patch(f"{__name__}.NOW", datetime(2026, 3, 28, 19, 0, tzinfo=UTC)):
            self.assertEqual(datetime(2026, 3, 29, 17, 0, tzinfo=UTC), self.parsed("19:00"))

    def test_a_time_that_clocks_show_twice(self):
        for now, expected in (
            (datetime(2026, 10, 25, 0, 15, tzinfo=UTC), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),
            (datetime(2026, 10, 25, 1, 15, tzinfo=UTC), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)),
            (datetime(2026, 10, 25, 1, 45, tzinfo=UTC), datetime(2026, 10, 26, 1, 30, tzinfo=UTC)),
        ):
            with mock.patch(f"{__name__}.NOW", now):
                self.assertEqual(expected, self.parsed("2:30"), now)
