"""Why a server is off: what its action log, its host and its console say."""

import dataclasses
from concurrent.futures import Future
from unittest import mock

import testtools

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.instance_actions import InstanceAction
from nova_twotier.core.reasons import failures
from nova_twotier.manager.shutdowns import (
    REBOOT_SLACK,
    RETRY_AFTER,
    Shutdown,
    Shutdowns,
    explain,
    reported,
    unreported,
)
from tests.unit.manager.builders import ENDED, job, seen, servers

TOKEN = "0123456789abcdef"
REBOOTED = Shutdown(failures.HOST_REBOOTED())


def log(text):
    """A log, oldest first: `create@10 stop@20!` is a server that was made and did not stop."""
    actions = []
    for entry in text.split():
        name, at = entry.rstrip("!").split("@")
        actions.insert(0, InstanceAction(name, float(at), entry.endswith("!")))
    return actions


class TestExplain(testtools.TestCase):
    def cause(self, text, booted_at=None):
        return explain(log(text), lambda: booted_at).cause

    def test_a_guest_that_ended(self):
        for text in (
            "create@10 stop@20",
            "create@10 createImage@15 lock@16 stop@20 createImage@21",
            "create@10 live-migration@15 stop@20",
            "create@10 shelve@11 shelveOffload@12 unshelve@15 stop@20",
            "create@10 suspend@11 resume@12 stop@20",
            "create@10 evacuate@12 start@15 stop@20",
        ):
            self.assertIsNone(self.cause(text), text)

    def test_what_nova_did(self):
        for text, name in (
            ("create@10 evacuate@20", "evacuate"),
            ("create@10 shelve@20!", "shelve"),
            ("create@10 shelve@20! stop@30", "shelve"),
            ("create@10 stop@11 start@12 shelve@13! stop@14", "shelve"),
            ("create@10 reboot@20! stop@30", "reboot"),
            ("create@10 migrate@20 stop@30", "migrate"),
            # What it was doing then, nobody knows: it may be the start that was lost.
            ("create@10 stop@11 start@12 resetState@30 stop@40", "resetState"),
            ("create@10", "create"),
        ):
            self.assertIn(f"`{name}`", str(self.cause(text)), text)
        self.assertEqual(failures.LEFT_OFF(), self.cause("lock@3"))

    def test_a_host_that_rebooted(self):
        boot = 1000.0
        for text, cause in (
            ("create@10 stop@1020", REBOOTED.cause),
            # Hosts shut their guests down before they go down themselves.
            (f"create@10 stop@{boot - REBOOT_SLACK + 1}", REBOOTED.cause),
            (f"create@10 stop@{boot - REBOOT_SLACK - 1}", None),
            # It was started, or came here, since.
            ("create@10 stop@1020 start@1030 stop@2000", None),
            ("create@10 live-migration@1010 stop@1020", None),
            # It had ended before, and was stopped once more.
            ("create@10 stop@20 stop@1020", None),
        ):
            self.assertEqual(cause, self.cause(text, boot), text)

    def test_what_does_not_come_up(self):
        for text, vain in (
            ("create@10 stop@20 start@30!", 1),
            ("create@10 stop@20 start@30! start@40!", 2),
            ("create@10 stop@20 start@30! start@40 stop@50", 0),
        ):
            self.assertEqual(vain, explain(log(text), lambda: None).vain, text)

    def test_how_often_it_was_started_without_a_report(self):
        for text, starts in (
            ("create@10 stop@20", 0),
            ("create@10 stop@20 start@30 lock@35 stop@40 start@50 stop@60", 2),
            ("create@10 stop@20 start@30 shelve@40 unshelve@50 stop@60", 0),
        ):
            found = unreported(log(text), None)
            self.assertEqual((starts, True), (found.vain, found.unreported), text)

    def test_starts_because_its_host_rebooted_are_not_in_vain(self):
        boot = 1000.0
        for text, starts in (
            ("create@10 stop@1020 start@1030 stop@1040", 0),
            ("create@10 stop@1020 start@1030 stop@1040 start@1050 stop@1060", 1),
            # Nor what was before: no start has come to its end since.
            ("create@10 stop@20 start@30 stop@1020 start@1030 stop@1040", 0),
            ("create@1010 stop@2000 start@2010 stop@2020", 1),
            ("create@10 stop@20 start@30 stop@40", 1),
        ):
            self.assertEqual(starts, unreported(log(text), boot).vain, text)


class TestReported(testtools.TestCase):
    def test_the_last_line_with_the_token(self):
        for console, status in (
            (f"boot\r\ntwotier-exit {TOKEN} 0\r\nPower down\r\n", 0),
            (f"[  12.3] x: twotier-exit {TOKEN} 137\n", 137),
            (f"twotier-exit {TOKEN} 1\ntwotier-exit {TOKEN} 0\n", 0),
            ("twotier-exit another 0\n", None),
            (f"twotier-exit {TOKEN} \n", None),
            ("", None),
        ):
            self.assertEqual(status, reported(console, TOKEN), console)


class TestShutdowns(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = mock.Mock()
        self.cloud.instance_actions.return_value = ENDED
        self.cloud.booted_at.return_value = 5.0
        self.cloud.console_log.return_value = ""
        self.shutdowns = Shutdowns(self.cloud, self.tell)
        self.job = job(size=1)

    def tell(self, request):
        answer = Future()
        try:
            request.run()
        except CloudError as error:
            answer.set_result(error)
        else:
            answer.set_result(None)
        return answer

    def poll(self, status="SHUTOFF", at=100.0, down=(), **values):
        gang = [dataclasses.replace(each, **values) for each in servers(self.job, status)]
        found = self.shutdowns.poll([self.job], seen(gang, at=at), down)
        return found.get(gang[0].id)

    def test_asked_once_while_it_is_off(self):
        for at in (100.0, 200.0):
            self.assertEqual(Shutdown(), self.poll(at=at))
        self.cloud.instance_actions.assert_called_once()
        self.assertIsNone(self.poll("ACTIVE"))
        self.poll()
        self.assertEqual(2, self.cloud.instance_actions.call_count)

    def test_and_again_after_a_change(self):
        self.poll(updated_at=1.0)
        self.cloud.booted_at.return_value = 80.0
        self.assertEqual(REBOOTED, self.poll(updated_at=2.0))

    def test_not_while_nova_is_busy_with_it_or_its_host_is_down(self):
        self.assertIsNone(self.poll(task="powering-on"))
        self.assertIsNone(self.poll(down={"a"}))
        self.cloud.instance_actions.assert_not_called()

    def test_no_answer_is_no_end(self):
        self.cloud.booted_at.side_effect = CloudError("timeout", 504)
        self.assertIsNone(self.poll(at=100.0))
        self.cloud.booted_at.side_effect = None
        self.assertIsNone(self.poll(at=101.0))
        self.assertEqual(Shutdown(), self.poll(at=100.0 + RETRY_AFTER))

    def test_too_many_requests_is_no_answer(self):
        self.cloud.booted_at.side_effect = CloudError("too many", 429)
        self.assertIsNone(self.poll(at=100.0))
        self.cloud.booted_at.side_effect = None
        self.assertEqual(Shutdown(), self.poll(at=100.0 + RETRY_AFTER))

    def test_a_report_needs_no_further_evidence(self):
        self.job.report_token = TOKEN
        self.cloud.console_log.return_value = f"twotier-exit {TOKEN} 3\n"
        self.cloud.booted_at.return_value = 80.0
        self.assertEqual(Shutdown(exit_status=3), self.poll())
        self.cloud.instance_actions.assert_not_called()

    def test_without_a_report_it_has_not_ended(self):
        self.job.report_token = TOKEN
        self.assertTrue(self.poll().unreported)

    def test_unless_this_cloud_shows_no_consoles(self):
        self.job.report_token = TOKEN
        self.cloud.console_log.side_effect = CloudError("not implemented", 501)
        self.assertEqual(Shutdown(), self.poll())

    def test_a_console_that_is_not_there_yet(self):
        self.job.report_token = TOKEN
        self.cloud.console_log.side_effect = CloudError("not ready", 409)
        self.assertIsNone(self.poll())
