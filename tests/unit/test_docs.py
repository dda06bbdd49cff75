"""What pages of doc/ say about the code is so: states, policies, papers; and where pages are."""

import ast
import importlib
import inspect
import pathlib
import re
import shutil
from xml.etree import ElementTree

import fixtures
import testtools

from nova_twotier.conf import manager
from nova_twotier.core.policies import POLICIES
from nova_twotier.db.states import OVER, ActionKind, ActionState, JobState
from nova_twotier.manager.operations import OPERATIONS
from nova_twotier.sim.reproduce.archive import TRACES
from nova_twotier.tools import policy_pages

ROOT = pathlib.Path(__file__).parents[2]
DOC = ROOT / "doc"
SVG = "{http://www.w3.org/2000/svg}"


def rows(page, header):
    """The first cells of the table with this header."""
    lines = (DOC / page).read_text().splitlines()
    begin = lines.index(header) + 2
    end = next(at for at in range(begin, len(lines) + 1) if not lines[at : at + 1] or not lines[at])
    return [re.findall(r"`([^`]+)`", line.split("|")[1])[0] for line in lines[begin:end]]


def drawn(name):
    """The states of a diagram, and its arrows: from, to, and the kinds of actions."""
    root = ElementTree.parse(DOC / name).getroot()  # noqa: S314
    states = [each.text for each in root.iter(f"{SVG}text") if each.get("class") == "state"]
    arrows = [
        (path.get("data-from"), path.get("data-to"), set((path.get("data-by") or "").split()))
        for path in root.iter(f"{SVG}path")
        if path.get("data-to")
    ]
    return states, arrows


def states_set(kind):
    """The states that an operation gives its job, as its module has them."""
    found = set()
    tree = ast.parse(inspect.getsource(importlib.import_module(type(OPERATIONS[kind]).__module__)))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        targets = [
            each
            for target in node.targets
            for each in (target.elts if isinstance(target, ast.Tuple) else [target])
        ]
        if any(isinstance(each, ast.Attribute) and each.attr == "state" for each in targets):
            found |= {
                JobState[each.attr]
                for each in ast.walk(node.value)
                if isinstance(each, ast.Attribute) and each.attr in JobState.__members__
            }
    return found


class TestStates(testtools.TestCase):
    def test_of_jobs(self):
        states, arrows = drawn("job-states.svg")
        self.assertEqual(sorted(JobState), sorted(states))
        self.assertEqual(list(JobState), rows("concepts.md", "| state | what it means |"))
        for begin, end, kinds in arrows:
            self.assertLessEqual({begin, end}, set(states))
            self.assertNotIn(begin, OVER)
            self.assertLessEqual(kinds, set(ActionKind))

    def test_arrows_are_what_operations_do(self):
        _states, arrows = drawn("job-states.svg")
        for kind in ActionKind:
            reached = {end for _begin, end, kinds in arrows if kind in kinds}
            if kind == ActionKind.END:
                # Where it ends is in its plan.
                reached -= {*OVER, JobState.QUEUED}
            self.assertEqual(states_set(kind), reached, kind)

    def test_of_actions(self):
        states, arrows = drawn("action-states.svg")
        self.assertEqual(sorted(ActionState), sorted(states))
        self.assertEqual({ActionState.EXPECTED}, {begin for begin, _end, _kinds in arrows})
        self.assertEqual({ActionState.DONE, ActionState.FAILED}, {end for _, end, _ in arrows})
        self.assertEqual(set(ActionKind), set(rows("concepts.md", "| kind | what it does |")))


class TestPolicies(testtools.TestCase):
    PAGE = (DOC / "policies.md").read_text()

    def test_sentences(self):
        told = [
            f"| [`{name}`](policies/{name}.md) | {each.summary} |"
            for name, each in sorted(POLICIES.items())
        ]
        self.assertIn("\n".join(["|---|---|", *told, ""]), self.PAGE)

    def test_each_has_a_page_and_each_page_a_policy(self):
        self.assertEqual(set(POLICIES), {path.stem for path in (DOC / "policies").iterdir()})
        for name in POLICIES:
            page = (DOC / "policies" / f"{name}.md").read_text()
            self.assertTrue(page.startswith(f"# {name}: "), name)
            module = f"nova_twotier/core/policies/{name.replace('-', '_')}.py"
            self.assertIn(f"`{module}`", page)
            self.assertTrue((ROOT / module).exists(), module)

    def test_options_are_there(self):
        known = {option.name for option in manager.OPTS}
        for path in (DOC / "policies").iterdir():
            named = set(re.findall(r"`\[manager\](\w+)", path.read_text()))
            self.assertEqual(set(), named - known, path.name)


class TestGeneratedPolicyPages(testtools.TestCase):
    """Tables between two comments, by `nova_twotier.tools.policy_pages`."""

    def setUp(self):
        super().setUp()
        self.doc = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / "doc"
        (self.doc / "policies").mkdir(parents=True)
        for path in [DOC / "policies.md", *(DOC / "policies").iterdir()]:
            shutil.copy(path, self.doc / path.relative_to(DOC))

    def texts(self, doc):
        return {path.name: path.read_text() for path in doc.rglob("*.md")}

    def test_facts_are_what_the_policies_say(self):
        before = self.texts(self.doc)
        policy_pages.write_facts(self.doc)
        self.assertEqual(before, self.texts(self.doc), f"run `{policy_pages.COMMAND}`")

    def test_results(self):
        """Of made-up runs: each number is where it belongs, and nothing else has changed."""
        metrics = [metric for metric, _unit, _decimals in policy_pages.COLUMNS.values()]
        runs = {
            (trace, name): dict.fromkeys(metrics, 3600.0 * (at + 1))
            for trace in TRACES
            for at, name in enumerate(POLICIES)
        }
        policy_pages.write_results(self.doc, runs, head=1000)
        there, before = self.texts(self.doc), self.texts(DOC)
        self.assertIn("The first 1,000 jobs", there["easy.md"])
        self.assertIn("| KTH | **`easy`** | 120.0 | 2.0 | 2 |", there["easy.md"])
        self.assertIn("| KTH | `fcfs` | 60.0 | 1.0 | 1 |", there["easy.md"])
        self.assertIn("| [`easy`](policies/easy.md) | 120.0 / 7,200.0 / 2 |", there["policies.md"])
        generated = re.compile(r"<!-- (?:traces|every policy) -->.*?<!-- end", re.DOTALL)
        for name, text in there.items():
            self.assertEqual(generated.sub("", before[name]), generated.sub("", text))

    def test_pages_have_results_of_all_traces(self):
        """As the last run of the command wrote them."""
        for name in POLICIES:
            text = (DOC / "policies" / f"{name}.md").read_text()
            self.assertIn(f"`{policy_pages.COMMAND}", text)
            for trace in TRACES:
                self.assertIn(f"| {trace} | **`{name}`** |", text)
            self.assertIn(f"| [`{name}`](policies/{name}.md) |", TestPolicies.PAGE)

    def test_a_page_without_a_place(self):
        (self.doc / "policies" / "easy.md").write_text("# easy: nothing\n")
        error = self.assertRaises(policy_pages.NoPlace, policy_pages.write_facts, self.doc)
        self.assertIn("has no lines <!-- facts -->", str(error))


class TestPapers(testtools.TestCase):
    def test_modules_exist(self):
        pattern = r"`((?:nova_twotier|filters|weighers|tests)/[^`]+)`"
        paths = re.findall(pattern, (DOC / "papers.md").read_text())
        self.assertGreater(len(paths), 50)
        self.assertEqual([], [path for path in paths if not (ROOT / path).exists()])

    def test_policies_of_papers_are_there(self):
        page = (DOC / "papers.md").read_text()
        for name in ("cmbf", "ambf", "cmcbf", "amcbf", "ccfcfs", "acfcfs", "ktier_cmbf", "bgmbf"):
            self.assertIn(f"core/policies/{name}.py`", page)


class TestPages(testtools.TestCase):
    def test_every_page_is_in_the_contents(self):
        pages = {path.relative_to(DOC).as_posix() for path in DOC.rglob("*.md")}
        pages |= {path.relative_to(DOC).as_posix() for path in DOC.rglob("*.rst")}
        listed = {"index"}
        for path in DOC.rglob("*.md"):
            found = re.findall(
                r"^```\{toctree\}\n:hidden:\n\n(.*?)^```$", path.read_text(), re.M | re.S
            )
            names = "".join(found)
            listed |= {re.sub(r".*<(.*)>", r"\1", name) for name in names.splitlines()}
        self.assertEqual(
            {page.rsplit(".", 1)[0] for page in pages}, {n for n in listed if n[0] != "."}
        )
