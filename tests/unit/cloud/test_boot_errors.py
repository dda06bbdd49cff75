"""What the owner of a job may read of a refusal, and what only operators may."""

import testtools
from novaclient import exceptions as nova_exc

from nova_twotier.cloud.boot_errors import LONGEST, boot_refused
from nova_twotier.core.reasons import failures

REQUEST = "req-0d5b1a8e-4a39-4b0f-9d0e-4d7a8e1f2c3b"


class TestBootRefused(testtools.TestCase):
    def refusal(self, status, message):
        kind = {400: nova_exc.BadRequest, 403: nova_exc.Forbidden, 409: nova_exc.Conflict}.get(
            status, nova_exc.ClientException
        )
        return boot_refused(kind(status, message, request_id=REQUEST))

    def told(self, status, message):
        reason = self.refusal(status, message).reason
        return None if reason is None else dict(reason.parameters)["text"]

    def test_users_errors_are_told(self):
        for status in (400, 403, 409):
            reason = self.refusal(status, "Invalid key_name provided.").reason
            expected = failures.NOVA_REFUSED(status=status, text="Invalid key_name provided.")
            self.assertEqual(expected, reason)
        for status in (401, 404, 500, 503):
            self.assertIsNone(self.told(status, "Invalid key_name provided."))

    def test_operators_read_it_all(self):
        error = self.refusal(500, "no cell cell1 at 10.0.0.1")
        self.assertEqual(
            f"Nova refused boot: no cell cell1 at 10.0.0.1 (HTTP 500) ({REQUEST})", str(error)
        )
        self.assertEqual(500, error.status)

    def test_ids_of_requests_are_left_out(self):
        self.assertEqual("No key.", self.told(400, f"No key. (Request-ID: {REQUEST})"))
        self.assertEqual("No key", self.told(400, f"No key {REQUEST}"))

    def test_texts_about_the_cloud_are_not_told(self):
        for text in (
            "Request of image x got BadRequest response: http://glance.internal/v2",
            "Binding failed at 10.1.2.3",
            "Compute host cmp-17 could not be found.",
            "Cell 3 is down",
            "a\x00b",
        ):
            self.assertIsNone(self.told(409, text), text)

    def test_without_a_text_of_nova(self):
        for text in (None, "n/a", "", "Bad request"):
            self.assertIsNone(self.told(400, text))

    def test_no_value_of_the_user_is_repeated(self):
        said = (
            "Invalid input for field/attribute user_data. Value: c2VjcmV0. 'c2VjcmV0' is too long"
        )
        error = self.refusal(400, said)
        self.assertNotIn("c2VjcmV0", f"{error} {error.reason}")
        self.assertEqual("Invalid input for field/attribute user_data", self.told(400, said))

    def test_one_line_that_is_not_too_long(self):
        self.assertEqual("a b", self.told(400, " a\n  b "))
        self.assertEqual(LONGEST + 3, len(self.told(400, "x" * 2 * LONGEST)))
