"""The plugin's tests on several releases of Nova, each in an environment of its own below .nox."""

import nox

#: The exact versions of each release. The newest is the one that `make test` runs with.
CONSTRAINTS = {
    "2025.1": "constraints-2025.1.txt",
    "newest": "constraints.txt",
}
#: Nova runs on eventlet there. Once it has replaced the threads of a worker of pytest-xdist,
#: that does not wake up any more when it has to wait for its next test.
ON_EVENTLET = {"2025.1"}
TESTS = (
    "tests/unit/plugin",
    "tests/unit/ledger",
    "tests/functional",
    # They need the newest Nova (native threads), or database servers and no Nova.
    "--ignore=tests/functional/test_benchmark.py",
    "--ignore=tests/functional/test_databases.py",
    "--ignore=tests/functional/test_leaders.py",
)

nox.options.reuse_existing_virtualenvs = True


@nox.session
@nox.parametrize("release", list(CONSTRAINTS), ids=list(CONSTRAINTS))
def nova(session, release):
    """Unit tests of plugin and ledger, and the functional tests on Nova and Placement."""
    session.install("--constraint", CONSTRAINTS[release], "--editable", ".[functional]")
    processes = "0" if release in ON_EVENTLET else "logical"
    session.run(
        "python", "-m", "pytest", "-q", "--numprocesses", processes, *(session.posargs or TESTS)
    )
