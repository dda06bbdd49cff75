"""Sphinx's configuration: `make docs` builds the pages from the Markdown where it stands.

The source directory is the whole repository, so that README.md and CONTRIBUTING.md are
pages as well, and a link has the same target here and on a forge.
"""

import logging
import pathlib
import tempfile

import yaml
from cliff.sphinxext import AutoprogramCliffDirective
from docutils import nodes
from dulwich.errors import NotGitRepository
from dulwich.repo import Repo
from reno.sphinxext import ReleaseNotesDirective

from nova_twotier.sim.cli.commands import Commands

ROOT = pathlib.Path(__file__).parents[1]

project = "nova-twotier"
copyright = "the nova-twotier contributors, Apache License 2.0"
extensions = [
    "myst_parser",
    "cliff.sphinxext",
    "oslo_config.sphinxext",
    "oslo_policy.sphinxext",
    "reno.sphinxext",
    "sphinx_argparse_cli",
]
root_doc = "doc/index"
include_patterns = ["README.md", "CONTRIBUTING.md", "doc/**"]
exclude_patterns = [".*", "build", "doc/_site"]
# Nothing is fetched: no intersphinx, no fonts, no scripts of others.
nitpicky = True
# What stands in `...` in help texts, which are read as reStructuredText.
default_role = "code"
# Help texts and tables name options such as --wait; they are not dashes.
smartquotes = False
# The commands' own options; doc/tenant.md describes those of cliff for the output.
autoprogram_cliff_ignored = [
    *("--help", "--format", "--column", "--quote", "--noindent", "--max-width", "--fit-width"),
    *("--print-empty", "--sort-column", "--sort-ascending", "--sort-descending", "--variable"),
    *("--prefix", "--no-quote"),
]

# Pygments does not understand every script in a here document; such blocks have fewer colours.
suppress_warnings = ["misc.highlighting_failure"]
# It tells of each note.
logging.getLogger("reno").setLevel(logging.WARNING)

myst_heading_anchors = 4
# The domain of oslo.config fails on targets that are not its own.
myst_ref_domains = ["std"]

html_theme = "furo"
html_title = "nova-twotier"
html_extra_path = ["_site"]
html_copy_source = False
html_show_sphinx = False


class SimulatorCommands(AutoprogramCliffDirective):
    """Sphinx directive that documents all commands of `twotier-sim`.

    The extension for the other programs cannot: it wants one parser with subparsers.
    """

    required_arguments = 0

    def _load_app(self):
        return None

    def _load_commands(self):
        return {name: entry.load() for name, entry in Commands()}


def has_history():
    """Whether this is a work tree of a complete repository."""
    try:
        with Repo(str(ROOT)) as repository:
            return not repository.get_shallow()
    except NotGitRepository:
        return False


class ReleaseNotes(ReleaseNotesDirective):
    """reno's directive, also where the history is not there to tell which release a note is of.

    So it is in a source archive, and in a clone that is not complete: there, all notes are in one.
    """

    def run(self):
        # The notes are no files that Sphinx knows of.
        self.state.document.settings.env.note_reread()
        found = self._found()
        for title in (each for node in found for each in node.findall(nodes.title)):
            # That is what reno calls a release before the first tag.
            if title.astext() == "0.0.0":
                title.children = [nodes.Text("Unreleased")]
        return found

    def _found(self):
        if has_history():
            return super().run()
        notes = {
            path.relative_to(ROOT).as_posix(): yaml.safe_load(path.read_text(encoding="utf-8"))
            for path in sorted(ROOT.glob("releasenotes/notes/*.yaml"))
        }
        # What `reno cache` would write, with history.
        cache = {
            "notes": [{"version": "All releases", "files": [(name, "") for name in notes]}],
            "dates": [],
            "file-contents": notes,
        }
        with tempfile.TemporaryDirectory() as directory:
            target = pathlib.Path(directory, "releasenotes", "notes", "reno.cache")
            target.parent.mkdir(parents=True)
            target.write_text(yaml.safe_dump(cache), encoding="utf-8")
            self.options["reporoot"] = directory
            return super().run()

    def _find_reporoot(self, reporoot_opt, relnotessubdir_opt):
        # Of a directory in a work tree, reno would take the work tree's.
        return self.options.get("reporoot", str(ROOT))


def setup(app):
    app.add_directive("autoprogram-simulator", SimulatorCommands)
    app.add_directive("release-notes", ReleaseNotes, override=True)
