"""Durations as people write them."""

import testtools

from nova_twotier.core.durations import TooLong, clock, run_time, seconds


class TestSeconds(testtools.TestCase):
    def test_forms(self):
        for text, expected in (
            ("90", 90),
            ("0.5", 0.5),
            ("0", 0),
            ("45s", 45),
            ("90m", 5400),
            ("2h", 7200),
            ("1.5h", 5400),
            (" 2D ", 172800),
            ("1h30m", 5400),
            ("1d2h3m4s", 93784),
            ("1:30:00", 5400),
            ("0:00:05", 5),
            ("100:00:00", 360000),
            ("1-12:00:00", 129600),
            ("1-12:00", 129600),
            ("0-0:30", 1800),
        ):
            self.assertEqual(expected, seconds(text), text)

    def test_what_is_none(self):
        # 1:30 could be minutes or hours.
        for text in (
            *("", "1:30", "m", "-5", "1h 30m", "30m1h", "1:60:00", "nan", "inf", "1e3", "½"),
            *("1-", "1-12", "-12:00", "1-12:60", "1-2-3", "1-12:"),
        ):
            error = self.assertRaises(ValueError, seconds, text)
            self.assertIn("is not a time: give seconds, or a time such as 90m", str(error))

    def test_what_is_too_long(self):
        """No calendar could add it to a time, nor JSON hold the last one."""
        self.assertEqual(1e9, seconds("1000000000"))
        for text in ("1000000001", "11575d", "99999999999d", "300000:00:00", "9" * 400):
            error = self.assertRaises(TooLong, seconds, text)
            expected = f"{text!r} is too long: give 1000000000 seconds, 30 years, or less"
            self.assertEqual(expected, str(error))


class TestRunTime(testtools.TestCase):
    def test_more_than_0(self):
        self.assertEqual([0.5, 5400], [run_time("0.5"), run_time("90m")])
        for text in ("0", "0.0", "0m", "0:00:00", "0-0:00"):
            error = self.assertRaises(ValueError, run_time, text)
            self.assertEqual(f"{text!r} is not a run time: give more than 0", str(error))
        self.assertRaises(ValueError, run_time, "1:30")
        self.assertRaises(TooLong, run_time, "9" * 400)


class TestClock(testtools.TestCase):
    def test_hours_minutes_seconds(self):
        self.assertEqual(["0:00:00", "1:02:03"], [clock(0.9), clock(3723)])
