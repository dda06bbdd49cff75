"""One policy of the demo: a cloud, a queue manager and an API of its own, and a replay."""

import argparse
import configparser
import contextlib
import pathlib
import shutil
import signal
import socket
import sys

from rich.console import Console

from nova_twotier import conf as configuration
from nova_twotier.conf import ConfigError
from nova_twotier.db.store import StoreError
from nova_twotier.tools.fakecloud import FakeCloud, FakeCloudError
from nova_twotier.tools.replay.errors import ReplayError
from nova_twotier.tools.replay.run import DATA, Settings, replay
from nova_twotier.tools.replay.supervisor import Supervisor, python

PROG = "demo"
INTERRUPTED = 130
HOSTS, SLOTS, TIERS = 4, 2, 2
#: Consecutive jobs of KTH-SP2 that ran at least half an hour.
TRACE = DATA / "kth-sp2-long-jobs.swf"
JOBS = 17
#: With these most jobs arrive in the first seconds and half of them run for more than half a
#: minute: the queue is long from the start, and Nova's boots take a small part of their stays.
SPEEDUP, LOAD_SCALE = 390.0, 5.0
#: Wall seconds after which a replay that is not over is given up.
TIMEOUT = 900.0


def main(argv: list[str] | None = None) -> int:
    """The entry point of the process that the demo starts for each policy."""
    parser = argparse.ArgumentParser(prog="python -m nova_twotier.tools.demo.play")
    parser.add_argument("policy")
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("jobs", type=int)
    arguments = parser.parse_args(argv)
    return run(arguments.policy, arguments.dir, arguments.jobs, Console())


def run(policy: str, out: pathlib.Path, jobs: int, console: Console) -> int:
    """Play one policy, and leave its summary and charts in `out`.

    :returns: the exit status; errors have been printed.
    """
    stop_on_signals()
    try:
        _play(policy, out, jobs, console)
    except (FakeCloudError, ReplayError, ConfigError, StoreError) as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{PROG}: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def stop_on_signals() -> None:
    """Let SIGTERM and SIGHUP do what Ctrl-C does."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)


def _interrupt(_signum, _frame):
    raise KeyboardInterrupt


def _play(policy: str, out: pathlib.Path, jobs: int, console: Console) -> None:
    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    directory = out / "cloud"
    # Left by a demo that was killed: its cloud may be up, its queue is of no use.
    FakeCloud(directory).down()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    cloud = FakeCloud(
        directory,
        hosts=HOSTS,
        slots=SLOTS,
        tiers=TIERS,
        progress=lambda text: say(f"cloud: {text}"),
    )
    say(f"cloud: {HOSTS} hosts with {SLOTS} slots of {TIERS} tiers, in {directory}")
    try:
        info = cloud.up()
        _replay(policy, pathlib.Path(info["files"]["manager_conf"]), out, jobs, console, say)
    finally:
        with uninterrupted():
            cloud.down()
            say("cloud: down")


@contextlib.contextmanager
def uninterrupted():
    """Cleaning up is not interrupted by an impatient second Ctrl-C."""
    before = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _replay(policy: str, cloud_conf: pathlib.Path, out, jobs: int, console, say) -> None:
    manager_conf = out / "nova-twotier.conf"
    port = _free_port()
    _write_conf(cloud_conf, manager_conf, out / "state", policy, port)
    conf = configuration.load([f"--config-file={manager_conf}"], PROG)
    argv = python("nova_twotier.cmd.manager", f"--config-file={manager_conf}")
    serving = python("nova_twotier.cmd.api", f"--config-file={manager_conf}")
    with (
        Supervisor("manager", argv, out / "manager.log", say) as manager,
        Supervisor("API", serving, out / "api.log", say),
    ):
        say(f"manager: pid {manager.pid}; try `kill -9 {manager.pid}`, the replay goes on")
        say(f"board: http://127.0.0.1:{port}/board shows this queue in a browser")
        settings = Settings(TRACE, out, jobs, SPEEDUP, LOAD_SCALE, timeout=TIMEOUT)
        done = replay(conf, settings, console, watch=lambda _player: manager.check())
    if done["interrupted"] == "interrupted":
        raise KeyboardInterrupt


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def _write_conf(
    source: pathlib.Path, path: pathlib.Path, state: pathlib.Path, policy: str, port: int
) -> None:
    """The cloud's configuration, with this policy, a state of its own, and a port for the API."""
    # oslo.config's [DEFAULT] is a section like the others, and % and $ are its own business.
    ini = configparser.RawConfigParser(default_section="", strict=False)
    ini.read(source)
    for section, option, value in (
        ("DEFAULT", "state_path", str(state)),
        ("manager", "policy", policy),
        ("manager", "poll_interval", "0.5"),
        ("api", "port", str(port)),
    ):
        if not ini.has_section(section):
            ini.add_section(section)
        ini.set(section, option, value)
    with path.open("w") as stream:
        ini.write(stream)


if __name__ == "__main__":
    sys.exit(main())
