"""Runs a share of Nova's tests in one variant, and writes what came out as lines of JSON."""

import argparse
import json
import pathlib
import unittest
import zlib

from tests.nova import modules, variant

PASSED, SKIPPED, FAILED = "passed", "skipped", "failed"


class Lines(unittest.TestResult):
    """Writes every outcome at once, so that a crash loses no more than the test that ran."""

    def __init__(self, file):
        super().__init__()
        self._file = file

    def write(self, test, outcome, why=""):
        json.dump({"test": test.id(), "outcome": outcome, "why": why}, self._file)
        self._file.write("\n")
        self._file.flush()

    def addSuccess(self, test):
        self.write(test, PASSED)

    def addExpectedFailure(self, test, err):
        self.write(test, PASSED)

    def addSkip(self, test, reason):
        self.write(test, SKIPPED, reason)

    def addError(self, test, err):
        self.write(test, FAILED, self._exc_info_to_string(err, test))

    addFailure = addError

    def addUnexpectedSuccess(self, test):
        self.write(test, FAILED, "expected to fail, but passed")


def share_of(suite, number, count):
    """The tests of the classes that fall to this worker: classes stay together, in order."""
    for test in flat(suite):
        if zlib.crc32(test.id().rpartition(".")[0].encode()) % count == number:
            yield test


def flat(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flat(item)
        else:
            yield item


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--plugin", action="store_true")
    parser.add_argument("--share", nargs=2, type=int, default=(0, 1), metavar=("NUMBER", "COUNT"))
    parser.add_argument("--only", type=pathlib.Path, help="file with the ids of the tests to run")
    parser.add_argument("names", nargs="+")
    args = parser.parse_args()
    variant.outside_the_tree()
    if not args.plugin:
        variant.without_plugin()
    asked = variant.with_plugin() if args.plugin else {}
    names, missing = modules.expand(args.names)
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    only = set(args.only.read_text().split("\n")) if args.only else None
    with args.output.open("w") as file:
        result = Lines(file)
        chosen = (
            test for test in share_of(suite, *args.share) if only is None or test.id() in only
        )
        unittest.TestSuite(chosen).run(result)
        json.dump({"asked": asked, "missing": missing}, file)
        file.write("\n")


if __name__ == "__main__":
    main()
