"""Who may import whom, checked on the source of every module."""

import ast
import pathlib
import sys

import testtools

ROOT = pathlib.Path(__file__).parents[2]
#: Parts that stand at the top of the repository and are installed inside nova_twotier.
TOPS = ("filters", "weighers", "tools")
#: What `ledger` may use of the brain: its value types.
VALUES = {"core.actions", "core.jobs", "core.slots"}
#: What runs on a cloud, and what it stands on.
SERVICES = {"core", "conf", "ledger", "cloud", "db", "agent", "manager", "api", "audit"}
#: Parts of ours that each part may import besides itself.
ALLOWED = {
    "core": set(),
    "sim": {"core"},
    "conf": {"core"},
    "ledger": VALUES,
    "cloud": {"core", "conf", "ledger", "db.models"},
    "db": {"core", "conf", "ledger.names"},
    "prometheus": {"conf"},
    "agent": {"core", "conf", "ledger", "prometheus"},
    # It measures the weights that the agent sets, and draws as the simulator does.
    "calibration": {"core", "agent.cgroups", "sim.plots"},
    "manager": {"core", "conf", "ledger", "cloud", "db", "prometheus"},
    "api": {"core", "conf", "ledger", "cloud", "db", "prometheus"},
    "audit": {"core", "conf", "ledger", "cloud", "db"},
    "filters": {"core", "ledger", "conf"},
    "weighers": {"core", "ledger", "conf", "filters"},
    # It serves the API's board with the caller's session.
    "client": {"core", "sim", "api.board_files", "api.errors", "api.loopback"},
    "cmd": {*SERVICES, "prometheus", "calibration", "client", "sim"},
    "tools": {*SERVICES, "client", "cmd", "sim"},
}
#: Libraries that only some parts may import.
RESERVED = {
    "nova": {"filters", "weighers", "tools"},
    "placement": {"tools"},
    "libvirt": {"agent"},
    "sqlalchemy": {"db", "manager", "api", "audit", "cmd", "tools"},
    "alembic": {"db"},
    "tooz": {"manager"},
    "oslo_messaging": {"cloud", "tools"},
    "oslo_db": {"conf", "db", "manager", "api", "cmd", "tools"},
    "novaclient": {"cloud", "manager", "api", "cmd", "tools"},
    "falcon": {"api"},
    "keystonemiddleware": {"api"},
    "oslo_policy": {"api"},
    "oslo_middleware": {"api"},
    "jsonschema": {"api"},
    "limits": {"api"},
    "microversion_parse": {"api"},
    "prometheus_client": {"agent", "api", "manager", "prometheus"},
    "waitress": {"api"},
    "webob": {"api", "tools"},
    "osc_lib": {"client"},
    "openstack": {"client"},
}


def modules():
    """Every module of ours: its part, its dotted name inside nova_twotier, and its path."""
    for top in ("nova_twotier", *TOPS):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts if top in TOPS else parts[1:]
            yield parts[0], ".".join(parts), path


def imports(source, package):
    """Dotted names of the modules that a source imports, relative ones resolved in `package`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            # `from package import module` names a module too.
            yield from (f"{base}.{alias.name}" for alias in node.names)


def violations(part, source, package=""):
    """What a module of `part` imports against the rules, one sentence each."""
    for name in imports(source, package):
        library, _dot, inside = name.partition(".")
        if library == "nova_twotier":
            if not _may_use(part, inside):
                yield f"{part} may not import {inside or library}"
        elif library in (*TOPS, "tests"):
            yield f"{part} may not import {name}: it is installed as nova_twotier.{name}"
        elif part not in RESERVED.get(library, {part}):
            yield f"{part} may not import {library}"
        elif part == "core" and library not in sys.stdlib_module_names:
            yield f"core may not import {library}: the standard library only"


def _may_use(part, name):
    target = name.split(".")[0]
    if target == part or target in ("__version__", ""):
        return True
    return any(name == each or name.startswith(f"{each}.") for each in ALLOWED.get(part, ()))


class TestImports(testtools.TestCase):
    def test_every_module(self):
        wrong = []
        seen = set()
        for part, name, path in modules():
            seen.add(part)
            package = f"nova_twotier.{name if path.stem == '__init__' else name.rpartition('.')[0]}"
            package = package.removesuffix(".__init__")
            wrong += [
                f"{path.relative_to(ROOT)}: {each}"
                for each in violations(part, path.read_text(), package)
            ]
        self.assertEqual([], wrong)
        self.assertLessEqual({"core", "ledger", "filters", "weighers", "manager"}, seen)

    def test_every_part_has_a_rule(self):
        parts = {part for part, _name, path in modules() if path.parent != ROOT / "nova_twotier"}
        self.assertEqual(set(), parts - set(ALLOWED))


class TestRules(testtools.TestCase):
    """The rules themselves: what they refuse, and what they let pass."""

    def refused(self, part, source, package="nova_twotier.part"):
        return list(violations(part, source, package))

    def test_refuses(self):
        for part, source in (
            ("core", "import nova_twotier.ledger"),
            ("core", "from nova_twotier import ledger"),
            ("core", "import numpy"),
            ("core", "def f():\n    from oslo_log import log"),
            ("ledger", "from nova_twotier.core.cluster import Cluster"),
            ("ledger", "from nova_twotier.core import cluster"),
            ("sim", "from nova_twotier.ledger import names"),
            ("manager", "import nova.conf"),
            ("manager", "from nova_twotier.filters import request"),
            ("manager", "from nova_twotier.api import views"),
            ("api", "from nova_twotier.manager import schedule"),
            ("audit", "from nova_twotier.manager import election"),
            ("cloud", "from nova_twotier.db import store"),
            ("db", "from nova_twotier.cloud import nova"),
            ("filters", "from nova_twotier.db import models"),
            ("weighers", "import sqlalchemy.orm"),
            ("manager", "import webob.exc"),
            ("tools", "from jsonschema import Draft202012Validator"),
            ("sim", "import libvirt"),
            ("cmd", "from nova_twotier.tools.replay import player"),
            ("manager", "from filters import request"),
            ("manager", "from tests.unit import builders"),
        ):
            self.assertEqual(1, len(self.refused(part, source)), (part, source))

    def test_lets_pass(self):
        for part, source in (
            ("core", "import heapq\nfrom nova_twotier.core import slots"),
            ("ledger", "from nova_twotier.core.actions import Tier"),
            ("ledger", "from nova_twotier.core import slots"),
            ("filters", "from nova.scheduler import filters"),
            ("weighers", "from nova_twotier.filters import request"),
            ("manager", "from novaclient import client"),
            ("tools", "import nova.conf\nfrom nova_twotier.cloud import nova"),
        ):
            self.assertEqual([], self.refused(part, source), (part, source))

    def test_resolves_relative_imports(self):
        source = "from ..ledger import names"
        self.assertEqual(
            ["core may not import ledger.names"],
            self.refused("core", source, "nova_twotier.core"),
        )
