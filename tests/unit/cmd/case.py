"""Commands that work on the manager's database, run in this process."""

import io
import pathlib
import re
from contextlib import redirect_stderr, redirect_stdout

import fixtures
import testtools

from tests.new_databases import new_store


def run_main(main, conf, *args):
    """Exit code, standard output, standard error of a command with this configuration."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(["--config-file", str(conf), *args])
        except SystemExit as exit_:
            code = exit_.code
    return code, out.getvalue(), err.getvalue()


def apart_from_log(text):
    """What a program has written to its standard error besides its log."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not re.match(r"\d{4}-\d\d-\d\d \d\d:", line))


class CommandCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.conf = self.directory / "nova-twotier.conf"
        self.conf.write_text(f"[DEFAULT]\nstate_path = {self.directory}/state\n")
        self.store = new_store(self, f"sqlite:///{self.directory}/state/twotier.sqlite")

    def run_main(self, main, *args):
        return run_main(main, self.conf, *args)
