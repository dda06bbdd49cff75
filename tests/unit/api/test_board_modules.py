"""The modules of the board that know no page, tested with Node.js where there is one."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

from nova_twotier import api

NODE = shutil.which("node")
TESTS = pathlib.Path(__file__).parent / "static"


class TestBoardModules(unittest.TestCase):
    @unittest.skipIf(NODE is None, "needs node")
    def test_modules(self):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            # Node.js takes files of this suffix for modules if a file beside them says so.
            (directory / "package.json").write_text('{"type": "module"}')
            shutil.copytree(pathlib.Path(api.__file__).parent / "static", directory / "static")
            for test in TESTS.glob("*.test.js"):
                shutil.copy(test, directory)
            command = [NODE, "--test", "--test-reporter=spec", directory]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
            self.assertEqual(0, ran.returncode, ran.stdout + ran.stderr)
