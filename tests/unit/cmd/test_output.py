"""Every format holds the same, exactly."""

import json

import testtools
import yaml

from nova_twotier.client import output

ROW = {"name": "a, b", "cpu": [0.5, 1.0], "reason": None}


class TestFormats(testtools.TestCase):
    def test_many(self):
        rows = [ROW, {**ROW, "name": "é"}]
        self.assertEqual(rows, json.loads(output.many(rows, "json", nothing="nobody")))
        self.assertEqual(rows, yaml.safe_load(output.many(rows, "yaml", nothing="nobody")))
        lines = output.many(rows, "csv", nothing="nobody").split("\n")
        self.assertEqual(["name,cpu,reason", '"a, b","[0.5, 1.0]",', 'é,"[0.5, 1.0]",'], lines)

    def test_none(self):
        for style, expected in (("table", "nobody"), ("json", "[]"), ("yaml", "[]"), ("csv", "")):
            self.assertEqual(expected, output.many([], style, nothing="nobody"))
