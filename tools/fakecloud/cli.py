"""The command `fakecloud`."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import signal
import sys

from nova_twotier.tools.fakecloud import logs, options
from nova_twotier.tools.fakecloud.cloud import FakeCloud
from nova_twotier.tools.fakecloud.errors import FakeCloudError, UsageError
from nova_twotier.tools.fakecloud.settings import Settings, default_dir

EXIT_DOWN = 3
#: The state of a cloud whose machine was restarted, or of which a process was killed.
CRASHED = (
    'crashed: processes ended without "fakecloud down"; "fakecloud down" cleans up, "fakecloud up" '
    "starts a new one without its jobs"
)
#: That of a cloud of which only our own processes have ended.
INCOMPLETE = 'up, but {names} {have} ended: "fakecloud up" starts {it} again, and keeps the jobs'
#: Variables of the environment by which oslo.config would take an option.
_OF_OSLO = re.compile("OS_[A-Z_]+__[A-Z0-9_]+")
#: What a new user may type next.
FIRST_JOB = "openstack twotier job create --size 4 --cpu 0.6 --wait"


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    # A terminated `up` cleans up as an interrupted one does.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return arguments.run(arguments)
    except FakeCloudError as error:
        print(f"fakecloud: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        print("fakecloud: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _interrupt(_signum, _frame):
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fakecloud",
        allow_abbrev=False,
        description="A fake-driver OpenStack cloud on this machine, on loopback ports only.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name, run, text, epilog=None):
        sub = commands.add_parser(
            name, help=text, description=text.capitalize() + ".", epilog=epilog, allow_abbrev=False
        )
        sub.add_argument(
            "--dir",
            type=pathlib.Path,
            default=None,
            metavar="DIR",
            help="directory that holds all of the cloud (default: $FAKECLOUD_DIR, or .fakecloud)",
        )
        sub.set_defaults(run=run)
        return sub

    up = command(
        "up",
        _up,
        "start a cloud; it is ready when the command returns",
        "Example: fakecloud up --manager --hosts 8 --slots 4 --tiers 2",
    )
    _up_options(up)
    down = command("down", _down, "end the cloud; the logs stay")
    down.add_argument("--purge", action="store_true", help="remove the directory as well")
    status = command(
        "status",
        _status,
        "show what is running",
        f"Exit status: 0 when all of the cloud is up, {EXIT_DOWN} when it is not.",
    )
    _format_option(status)
    show = command("logs", _logs, "show the end of the logs", "Example: fakecloud logs nova -f")
    show.add_argument(
        "service",
        nargs="?",
        metavar="SERVICE",
        help='name of a process as "fakecloud status" prints it (default: all)',
    )
    show.add_argument(
        "-n",
        "--lines",
        type=int,
        default=20,
        metavar="LINES",
        help="lines to show of each log (default: %(default)s)",
    )
    show.add_argument("-f", "--follow", action="store_true", help="go on as the logs grow")
    return parser


def _up_options(up: argparse.ArgumentParser) -> None:
    # What is not given is that of the cloud that is up, and else the default of `Settings`.
    up.argument_default = argparse.SUPPRESS
    up.add_argument(
        "--hosts",
        type=int,
        metavar="N",
        help=f"fake compute hosts (default: {Settings.hosts})",
    )
    up.add_argument(
        "--slots",
        type=int,
        metavar="L",
        help=f"slots a host: its vCPUs (default: {Settings.slots})",
    )
    up.add_argument(
        "--tiers",
        type=int,
        metavar="K",
        help=f"VMs that may share a slot: its tiers (default: {Settings.tiers})",
    )
    up.add_argument(
        "--manager",
        action="store_true",
        help="run a queue manager, too, so that jobs start; also for a cloud that is up",
    )
    up.add_argument(
        "--no-plugin",
        dest="plugin",
        action="store_false",
        help="leave Nova's own filters and weighers alone in the scheduler",
    )
    up.add_argument(
        "--port-base",
        type=int,
        metavar="PORT",
        help="use the free ports from this one on (default: any free ports)",
    )
    for name, text in (
        ("report_interval", "seconds between two heartbeats of a nova-compute"),
        ("service_down_time", "seconds without a heartbeat after which Nova takes it for down"),
        ("max_limit", "items that Nova lists in one answer"),
    ):
        up.add_argument(
            f"--{name.replace('_', '-')}",
            type=int,
            metavar="N",
            help=f"{text} (default: {getattr(Settings, name)})",
        )
    up.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.OPTION=VALUE",
        help="an option of the queue manager and its API, such as "
        "job_events.allowed_webhooks=http://127.0.0.1:8000/; repeat for several. They are kept for "
        "later clouds in this directory; an empty value takes one back. Of a cloud that is up, "
        "those may change that may at run time",
    )
    up.add_argument(
        "--config",
        type=pathlib.Path,
        default=None,
        metavar="FILE",
        help="a configuration file with such options; --set counts more",
    )
    _format_option(up)
    full = up.add_argument_group("with all services")
    full.add_argument(
        "--full",
        action="store_true",
        help="a process for each service, RabbitMQ, Keystone and Glance",
    )
    full.add_argument(
        "--libvirt",
        type=int,
        metavar="N",
        help="further hosts with real, emulated guests: nova-compute on a libvirtd of its own; "
        f"needs root, libvirt and QEMU (default: {Settings.libvirt})",
    )
    full.add_argument(
        "--computes-per-process",
        type=int,
        metavar="N",
        help=f"hosts in one nova-compute process (default: {Settings.computes_per_process})",
    )
    full.add_argument(
        "--transport-url",
        metavar="URL",
        help=f"RabbitMQ server (default: {Settings.transport_url})",
    )
    full.add_argument(
        "--database-url",
        metavar="URL",
        help="database server, for example mysql+pymysql://root@127.0.0.1:3306/ "
        "(default: SQLite files)",
    )


def _format_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=["table", "json"],
        default="table",
        help="output format (default: %(default)s)",
    )


def _cloud(arguments, **options) -> FakeCloud:
    return FakeCloud(arguments.dir or default_dir(), progress=_progress, **options)


def _progress(text: str) -> None:
    print(f"fakecloud: {text}", file=sys.stderr, flush=True)


def _up(arguments) -> int:
    if ignored := sorted(filter(_OF_OSLO.fullmatch, os.environ)):
        _progress(f"{', '.join(ignored)} of the environment: not passed on, give --set instead")
    names = {field.name for field in dataclasses.fields(Settings)} - {"dir"}
    given = {name: value for name, value in vars(arguments).items() if name in names}
    cloud = _cloud(arguments, set=arguments.set, config=arguments.config, **given)
    info = cloud.up()
    own = options.names(options.read(cloud.layout.options))
    if arguments.format == "json":
        print(json.dumps(info, indent=2))
        return 0
    conf, running = info["files"]["manager_conf"], "manager" in info["pids"]
    _table(
        [
            ("mode", info["mode"]),
            ("hosts", f"{len(info['hosts'])} with {info['slots']} slots of {info['tiers']} tiers"),
            *((f"{name} API", url) for name, url in info["urls"].items()),
            ("image", info["image"]),
            ("flavors", f"{info['flavor']}, {info['plain_flavor']}"),
            ("configuration", conf),
            *([("own options", f"{', '.join(own)} (--set)")] if own else []),
            ("manager", "running" if running else f"none: twotier-manager --config-file {conf}"),
            ("credentials", f". {info['files']['openrc']}"),
            *([("first job", FIRST_JOB)] if running else []),
        ]
    )
    return 0


def _down(arguments) -> int:
    cloud = _cloud(arguments)
    crashed = cloud.status()["state"] == "crashed"
    ended = cloud.down(purge=arguments.purge)
    _progress("down" if ended else "already down")
    if crashed:
        _progress("the cloud had crashed or was killed; what was left of it is gone")
    return 0


def _status(arguments) -> int:
    status = _cloud(arguments).status()
    if arguments.format == "json":
        print(json.dumps(status, indent=2))
    else:
        _table(
            [
                ("cloud", _state(status)),
                ("directory", status["dir"]),
                *(
                    (
                        process["name"],
                        f"{'running' if process['alive'] else 'ended'}, pid {process['pid']}",
                    )
                    for process in status["processes"]
                ),
                *((f"{name} port", port) for name, port in status.get("ports", {}).items()),
            ]
        )
    return 0 if status["state"] == "up" else EXIT_DOWN


def _state(status: dict) -> str:
    """The state of a cloud, and what to do if it is not whole."""
    if status["state"] == "crashed":
        return CRASHED
    if status["state"] == "incomplete":
        ended = [process["name"] for process in status["processes"] if not process["alive"]]
        have, it = ("have", "them") if len(ended) > 1 else ("has", "it")
        return INCOMPLETE.format(names=" and ".join(ended), have=have, it=it)
    return status["state"]


def _logs(arguments) -> int:
    logs.show(_cloud(arguments).layout, arguments.service, arguments.lines, arguments.follow)
    return 0


def _table(rows) -> None:
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")


if __name__ == "__main__":
    sys.exit(main())
