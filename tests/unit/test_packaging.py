"""What setup.cfg installs is what there is."""

import ast
import configparser
import fnmatch
import hashlib
import pathlib
import re
import runpy
import tomllib
from unittest import mock

import testtools

ROOT = pathlib.Path(__file__).parents[2]
TOPS = ("nova_twotier", "filters", "weighers", "tools")


def listed():
    """The packages and their directories that setup.cfg names."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    directories = dict(
        line.split(" = ") for line in config["options"]["package_dir"].split("\n") if " = " in line
    )
    return config["options"]["packages"].split(), directories


def found(directories):
    """Every directory of ours with an __init__.py, under the name that it is installed as."""
    names = {directory: package for package, directory in directories.items()}
    for top in TOPS:
        for init in (ROOT / top).rglob("__init__.py"):
            first, *rest = init.parent.relative_to(ROOT).parts
            yield ".".join([names.get(first, first), *rest])


class TestPythons(testtools.TestCase):
    """The versions of Python that setup.cfg names."""

    def setUp(self):
        super().setUp()
        config = configparser.ConfigParser()
        config.read(ROOT / "setup.cfg")
        self.named = re.findall(r"Python :: (3\.\d+)", config["metadata"]["classifiers"])
        self.least = config["options"]["python_requires"].removeprefix(">=")

    def test_the_first_is_the_least(self):
        self.assertEqual(self.least, self.named[0])

    def test_all_others_have_a_session_of_nox(self):
        [versions] = re.findall(r"^PYTHONS = (.*)", (ROOT / "noxfile.py").read_text(), re.M)
        self.assertEqual(self.named[1:], list(ast.literal_eval(versions)))

    def test_each_gets_a_wheel(self):
        pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
        tags = [f"cp{version.replace('.', '')}-manylinux_*" for version in self.named]
        self.assertEqual(tags, pyproject["tool"]["cibuildwheel"]["build"].split())

    def test_make_takes_each(self):
        [names] = re.findall(r"for name in (.*?);", (ROOT / "Makefile").read_text())
        self.assertEqual([f"python{version}" for version in self.named], names.split()[:-1])


class TestCompiled(testtools.TestCase):
    def test_lint_checks_the_types_that_compiled_code_trusts(self):
        with mock.patch("setuptools.setup"):
            names = runpy.run_path(str(ROOT / "setup.py"))["HOT"]
        compiled = {path for name in names for path in ROOT.glob(f"nova_twotier/{name}.py")}
        files = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["files"]
        checked = [ROOT / each for each in files]
        self.assertTrue(compiled)
        left = [path for path in compiled if not any(map(path.is_relative_to, checked))]
        self.assertEqual([], left)


class TestPackages(testtools.TestCase):
    def test_every_package_is_listed(self):
        packages, directories = listed()
        self.assertEqual(sorted(found(directories)), sorted(packages))

    def test_every_module_is_in_a_package(self):
        for top in TOPS:
            for module in (ROOT / top).rglob("*.py"):
                self.assertTrue((module.parent / "__init__.py").exists(), module)

    def test_every_file_of_the_board_is_data_of_its_package(self):
        config = configparser.ConfigParser()
        config.read(ROOT / "setup.cfg")
        patterns = config["options.package_data"]["nova_twotier.api"].split(", ")
        package = ROOT / "nova_twotier" / "api"
        files = [path for path in (package / "static").rglob("*") if path.is_file()]
        self.assertGreater(len(files), 10)
        for path in files:
            # A star does not match a slash there, so the depths are equal.
            name = path.relative_to(package).as_posix()
            fitting = [
                each
                for each in patterns
                if fnmatch.fnmatch(name, each) and name.count("/") == each.count("/")
            ]
            self.assertTrue(fitting, name)

    def test_the_tests_library_is_as_it_came(self):
        axe = ROOT / "tests" / "cloud" / "axe"
        lines = (axe / "SHA256SUMS").read_text().splitlines()
        known = dict(reversed(line.split()) for line in lines)
        self.assertEqual(
            {path.name for path in axe.iterdir()} - {"README.md", "SHA256SUMS"}, set(known)
        )
        for name, digest in known.items():
            self.assertEqual(digest, hashlib.sha256((axe / name).read_bytes()).hexdigest(), name)

    def test_an_sdist_has_all_of_the_repository(self):
        lines = (ROOT / "MANIFEST.in").read_text().splitlines()
        grafted = {line.split()[1] for line in lines if line.startswith("graft ")}
        ignored = (ROOT / ".gitignore").read_text().replace("/", "").split()
        there = {
            path.name
            for path in ROOT.iterdir()
            if path.is_dir()
            and not path.name.startswith(".")
            and not any(fnmatch.fnmatch(path.name, pattern) for pattern in ignored)
        }
        self.assertEqual(there - set(TOPS), grafted)

    def test_mapped_directories_exist(self):
        _packages, directories = listed()
        self.assertEqual({"filters", "weighers", "tools"}, set(directories.values()))
        for package, directory in directories.items():
            self.assertEqual(f"nova_twotier.{directory}", package)
            self.assertTrue((ROOT / directory).is_dir(), directory)
