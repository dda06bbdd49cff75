"""Which test runs which commands of the pages, and why the others are only checked."""

from collections.abc import Iterator

from tests.documented.pages import Command, every_command, section

TENANT = "doc/tenant.md"
#: Page, "" for all; first words of the command; and the test that runs it, or None. The first row
#: that fits counts.
RUNNERS = (
    ("", "openstack twotier board", None),
    ("doc/install.md", "openstack user", "tests/cloud/test_trusts.py"),
    ("doc/install.md", "openstack role", "tests/cloud/test_trusts.py"),
    ("doc/install.md", "openstack service", "tests/cloud/test_trusts.py"),
    ("doc/install.md", "openstack endpoint", "tests/cloud/test_trusts.py"),
    ("doc/operator/plugin.md", "openstack registered limit", "tests/cloud/test_trusts.py"),
    ("doc/operator/plugin.md", "openstack limit", "tests/cloud/test_trusts.py"),
    ("doc/install.md", "twotier-manage trust", "tests/cloud/test_trusts.py"),
    (TENANT, "openstack twotier job explain solver", "tests/unit/client/test_transcripts.py"),
    (TENANT, "openstack twotier job wait first second", "tests/unit/client/test_transcripts.py"),
    ("README.md", "openstack twotier", "tests/unit/client/test_documentation.py"),
    ("doc/devstack.md", "openstack twotier", "tests/unit/client/test_documentation.py"),
    (TENANT, "openstack twotier", "tests/unit/client/test_documentation.py"),
    ("", "openstack", "tests/cloud/test_operator_guide.py"),
    ("", "twotier-manage", "tests/cloud/test_operator_guide.py"),
    ("", "nova-twotier-status", "tests/cloud/test_operator_guide.py"),
    ("", "fakecloud", "tests/cloud/test_operator_guide.py"),
    ("doc/api.md", "curl", "tests/unit/api/test_documentation.py"),
    ("", "oslo-config-generator", "tests/unit/conf/test_sample.py"),
    ("", "twotier-sim traces fetch", None),
    ("", "twotier-sim", "tests/unit/sim/test_documentation.py"),
)
#: First words of the commands that no test runs as they are written, and why.
CHECKED = {
    ".": "its variables are those that the tests set",
    ".venv/bin/pip": "installs from the network",
    ".venv/bin/pre-commit": "changes the checkout",
    "./stack.sh": "takes a machine of its own; tests/unit/devstack runs what the plugin adds",
    "cat": "tests/unit/client/test_examples.py runs the scripts that it writes",
    "cd": "of the shell",
    "cp": "changes the system",
    "done": "of the shell",
    "for": "of the shell",
    "git": "fetches this repository, which is there",
    "install": "changes the system",
    "mariadb": "of a database server; tests/functional/test_databases.py has its own",
    "make .venv/test": "made the environment that the tests run in",
    "make demo": "tests/cloud/test_demo.py plays it with fewer jobs",
    "make faults": "takes hours; tests/functional runs scenarios of it",
    "make mutants": "takes minutes for a module, and most of a day for all",
    "make test": "runs the tests",
    "openstack twotier board": "serves until Ctrl-C; tests/unit/client/test_board.py ends it",
    "openssl": "another program; the tests make the key that it would",
    "pip": "installs from the network",
    "python benchmarks/agent.py": "a measurement, of a minute",
    "python benchmarks/manager.py": "a measurement, of minutes",
    "python -m nova_twotier.tools.faults": "shows what hours of `make faults` have written",
    "python3 receiver.py": "of the page; tests/unit/cloud/test_webhooks.py has its own receiver",
    "python3 -m venv": "made the environment that the tests run in",
    "sqlite3": "tests/cloud/upgrade.py makes the backups by Python's sqlite3",
    "ssh-keygen": "another program",
    "useradd": "changes the system",
    "userdel": "changes the system",
    "rm": "changes the system",
    "systemctl": "changes the system",
    "twotier-calibrate": "keeps CPUs busy for minutes; tests/unit/calibration measures shortly",
    "twotier-sim traces fetch": "needs the archive; tests/unit/sim/test_archive.py has one",
}


def runner(command: Command) -> str | None:
    """The test that runs a command; None if none does."""
    for page, words, test in RUNNERS:
        if page in ("", command.page) and _begins(command, words):
            return test
    return None


def reason(command: Command) -> str | None:
    """Why no test runs a command; None if nobody has said why."""
    return next((why for words, why in CHECKED.items() if _begins(command, words)), None)


def commands_of(test: str) -> Iterator[Command]:
    """The commands that a test has to run, by page, in their order.

    :param test: its path from the root of the repository.
    """
    return (command for command in every_command() if runner(command) == test)


def removes(command: Command) -> bool:
    """Whether a command undoes the installation; a test runs it after all others."""
    return command.page == "doc/install.md" and section(command) == "Remove it"


def _begins(command: Command, words: str) -> bool:
    wanted = tuple(words.split())
    return command.words[: len(wanted)] == wanted
