"""What Nova recorded of a server, and what `uptime` says."""

import testtools

from nova_twotier.cloud.instance_actions import InstanceAction, action_of, uptime_seconds

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


class TestActions(testtools.TestCase):
    def test_one_that_failed_says_so(self):
        shown = {"action": "shelve", "start_time": "1970-01-01T00:01:00.500000", "message": None}
        self.assertEqual(InstanceAction("shelve", 60.5), action_of(shown))
        failed = action_of({**shown, "message": "Error"})
        self.assertEqual(InstanceAction("shelve", 60.5, failed=True), failed)


class TestUptime(testtools.TestCase):
    def test_as_procps_and_busybox_write_it(self):
        for text, seconds in (
            (" 10:15:11 up 0 min,  0 users,  load average: 0.00, 0.01, 0.05\n", 0.0),
            (" 10:15:11 up 7 min,  1 user,  load average: 0.00, 0.01, 0.05\n", 7 * MINUTE),
            (" 10:15:11 up  4:32,  2 users,  load average: 1, 1, 1", 4 * HOUR + 32 * MINUTE),
            (" 10:15:11 up 1 day,  3 min,  2 users,  load average: 1, 1, 1", DAY + 3 * MINUTE),
            (" 10:15:11 up 93 days,  4:32,  2 users", 93 * DAY + 4 * HOUR + 32 * MINUTE),
            (" 10:15:11 up 93 days,  load average: 1, 1, 1", 93 * DAY),
            ("10:15:11 up 2 hrs, 1 user", 2 * HOUR),
        ):
            self.assertEqual(seconds, uptime_seconds(text), text)

    def test_what_does_not_say(self):
        for text in ("", "10:15:11", "10:15:11 up ?", "uptime: not found"):
            self.assertIsNone(uptime_seconds(text), text)
