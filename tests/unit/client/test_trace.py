"""A trace as requests for jobs."""

import base64
import pathlib

import fixtures
import testtools

from nova_twotier.client import trace

LINE = "{} {} -1 {} {} -1 -1 {} {} -1 1 1 1 1 1 -1 -1 -1\n"


class TestRequests(testtools.TestCase):
    def write(self, *records, name="site.swf", header="; MaxProcs: 8\n"):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / name
        path.write_text(header + "".join(LINE.format(*record) for record in records))
        return str(path)

    def test_in_the_order_of_arrival(self):
        path = self.write((1, 50, 30, 4, 4, 3600), (2, 10, 2.5, 1, 1, -1), (3, 20, 5, 0, 0, 9))
        requests, left_out = trace.requests(path, None)
        shown = [(each["name"], each["size"], each["estimate"]) for each in requests]
        self.assertEqual([("site-2", 1, 2.5), ("site-1", 4, 3600)], shown)
        self.assertEqual(1, left_out)

    def test_servers_idle_as_long_as_the_job_ran(self):
        [request], _left_out = trace.requests(self.write((1, 0, 86400, 1, 1, -1)), "night")
        self.assertEqual("night-1", request["name"])
        config = base64.b64decode(request["user_data"])
        self.assertIn(base64.b64encode(b"#!/bin/sh\nsleep 86400\n"), config)

    def test_classes_of_service(self):
        """As the queues stand for them; all of these jobs are in queue 1."""
        records = (1, 0, 5, 1, 1, 9), (2, 0, 5, 1, 1, 9)
        for header, asked, classes in (
            ("; Queue: 1 scavenger\n", True, ["scavenger"] * 2),
            ("; Queue: 1 scavenger\n", False, [None] * 2),
        ):
            requests, _left_out = trace.requests(self.write(*records, header=header), None, asked)
            self.assertEqual(classes, [each.get("qos") for each in requests])
        path = self.write(*records, header="; Queue: 2 urgent\n; Queue: 1 express\n")
        error = self.assertRaises(ValueError, trace.requests, path, None, True)
        self.assertIn("site.swf: names no classes of service; its header needs lines", str(error))

    def test_mistakes(self):
        path = self.write((1, 0, 5, 1, 1, 9), ("x", 0, 5, 1, 1, 9))
        error = self.assertRaises(ValueError, trace.requests, path, None)
        self.assertEqual(
            f"{path}:3: field 1 (number) is 'x'; it must be a whole number", str(error)
        )
        path = self.write()
        error = self.assertRaises(ValueError, trace.requests, path, None)
        self.assertEqual(f"{path}: there is no job in it", str(error))
        error = self.assertRaises(ValueError, trace.requests, "/nowhere.swf", None)
        self.assertEqual("/nowhere.swf: No such file or directory", str(error))
