"""What pages of doc/ say about the code is so: states, policies, papers; and where pages are."""

import ast
import importlib
import inspect
import pathlib
import re
from xml.etree import ElementTree

import testtools

from nova_twotier.core.policies import POLICIES
from nova_twotier.db.states import OVER, ActionKind, ActionState, JobState
from nova_twotier.manager.operations import OPERATIONS

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
        told = [f"| `{name}` | {each.summary} |" for name, each in sorted(POLICIES.items())]
        self.assertIn("\n".join(["|---|---|", *told, ""]), self.PAGE)

    def test_figures_are_those_of_the_simulator_page(self):
        figures = [line for line in self.PAGE.splitlines() if re.match(r"\|.*\d\.\d", line)]
        self.assertGreater(len(figures), 8)
        self.assertEqual(set(), set(figures) - set((DOC / "simulator.md").read_text().splitlines()))


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
        for path in DOC.glob("index*.md"):
            [names] = re.findall(
                r"^```\{toctree\}\n:hidden:\n\n(.*?)^```$", path.read_text(), re.M | re.S
            )
            listed |= {re.sub(r".*<(.*)>", r"\1", name) for name in names.splitlines()}
        self.assertEqual(
            {page.rsplit(".", 1)[0] for page in pages}, {n for n in listed if n[0] != "."}
        )
