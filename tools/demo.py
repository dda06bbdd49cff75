"""The demo: a fake-driver cloud, the queue manager, and a trace played under each policy."""

import argparse
import configparser
import contextlib
import pathlib
import shutil
import signal
import socket
import sys
import time

from rich.console import Console

from nova_twotier import conf as configuration
from nova_twotier.conf import ConfigError
from nova_twotier.core.policies import POLICIES
from nova_twotier.db.store import StoreError
from nova_twotier.tools.fakecloud import FakeCloud, FakeCloudError
from nova_twotier.tools.replay import summary
from nova_twotier.tools.replay.errors import ReplayError
from nova_twotier.tools.replay.run import DATA, Settings, replay
from nova_twotier.tools.replay.supervisor import Supervisor, python

PROG = "demo"
HOSTS, SLOTS, TIERS = 4, 2, 2
#: Consecutive jobs of KTH-SP2 that ran at least half an hour.
TRACE = DATA / "kth-sp2-long-jobs.swf"
#: With these most jobs arrive in the first seconds and half of them run for more than 19 seconds:
#: the queue is long from the start, however quickly Nova boots.
SPEEDUP, LOAD_SCALE = 700.0, 5.0
JOBS = 20
#: The policies of the queue manager.
PLAYED = sorted(name for name, policy in POLICIES.items() if not policy.bandwidth)
#: Wall seconds after which a replay that is not over is given up.
TIMEOUT = 900.0
#: What the first policy must really have done: key of the totals, least number, and in words.
FEATS = (
    ("background_starts", 3, "jobs started in the background"),
    ("swaps", 3, "swaps"),
    ("live_migrations", 2, "live migrations in Nova"),
)


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    console = Console()
    began = time.monotonic()
    try:
        done = _demo(arguments, console)
    except (FakeCloudError, ReplayError, ConfigError, StoreError) as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{PROG}: interrupted", file=sys.stderr)
        return 130
    good = _report(done, arguments.dir, console)
    console.print(f"{time.monotonic() - began:.0f} s in all", highlight=False)
    return 0 if good else 1


def _interrupt(_signum, _frame):
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m nova_twotier.tools.{PROG}",
        allow_abbrev=False,
        description="Starts a cloud of fake hosts with real Nova and Placement on loopback, plays "
        "an excerpt of KTH-SP2 under each policy, and shows what really happened.",
    )
    parser.add_argument(
        "--dir",
        type=pathlib.Path,
        default=pathlib.Path(".demo"),
        metavar="DIR",
        help="directory of everything the demo writes (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=JOBS,
        metavar="N",
        choices=range(1, JOBS + 1),
        help=f"jobs of the excerpt, 1 to {JOBS} (default: %(default)s)",
    )
    parser.add_argument(
        "--policies",
        nargs="+",
        default=["amcbf", "fcfs"],
        metavar="POLICY",
        choices=PLAYED,
        help=f"of {', '.join(PLAYED)} (default: amcbf fcfs)",
    )
    return parser


def _demo(arguments, console: Console) -> list[dict]:
    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    directory = arguments.dir.absolute()
    cloud = FakeCloud(
        directory / "cloud",
        hosts=HOSTS,
        slots=SLOTS,
        tiers=TIERS,
        progress=lambda text: say(f"cloud: {text}"),
    )
    say(f"cloud: {HOSTS} hosts with {SLOTS} slots of {TIERS} tiers, in {directory / 'cloud'}")
    # Left by a demo that was killed: its cloud may be up, its queue is of no use.
    cloud.down()
    try:
        info = cloud.up()
        return [
            _play(
                policy,
                pathlib.Path(info["files"]["manager_conf"]),
                directory,
                arguments.jobs,
                console,
                say,
            )
            for policy in dict.fromkeys(arguments.policies)
        ]
    finally:
        with _uninterrupted():
            cloud.down()
            say("cloud: down")


@contextlib.contextmanager
def _uninterrupted():
    """Cleaning up is not interrupted by an impatient second Ctrl-C."""
    before = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _play(policy: str, cloud_conf: pathlib.Path, directory, jobs: int, console, say) -> dict:
    """One policy: a queue of its own, a manager, an API with the board, a replay."""
    out = directory / policy
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    manager_conf = out / "nova-twotier.conf"
    port = _free_port()
    _write_conf(cloud_conf, manager_conf, out / "state", policy, port)
    conf = configuration.load([f"--config-file={manager_conf}"], PROG)
    say("")
    say(f"policy {policy}")
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
    return done


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


def _report(done: list[dict], directory: pathlib.Path, console: Console) -> bool:
    """Say what happened; whether all invariants hold and the first replay had all it should."""
    lines = []
    good = True
    for result in done:
        lines += ["", f"invariants under {result['name']}", *summary.verdicts(result)]
        good &= all(invariant["holds"] for invariant in result["invariants"].values())
    if done[0]["policy"] != "fcfs":
        lines += ["", f"what Nova really did under {done[0]['name']}"]
        for key, least, words in FEATS:
            count = done[0]["totals"][key] or 0
            enough = count >= least
            lines.append(f"{'✓' if enough else '✗'} {words}: {count}, at least {least}")
            good &= enough
    lines.append("")
    for result in done:
        chart = directory / result["name"] / "gantt.png"
        lines.append(f"Gantt chart of {result['name']}: {chart} and .html beside it")
    console.print(summary.table(done))
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return good


if __name__ == "__main__":
    sys.exit(main())
