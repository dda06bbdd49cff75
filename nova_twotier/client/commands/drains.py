"""`openstack twotier host drain|undrain`, for administrators: maintenance, as `scontrol` has it."""

import contextlib
import sys
import time
from datetime import UTC, datetime, timedelta

from osc_lib.exceptions import CommandError

from nova_twotier.client import arguments, tables
from nova_twotier.client.commands.hosts import shown
from nova_twotier.client.rest import Api, ApiError

#: Seconds between two looks at a host that is waited for.
INTERVAL = 5.0


class DrainHost(tables.ShowOne):
    """Drain a host: nothing new is placed there, and jobs end or are moved; for administrators"""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument("host", metavar="<host>", help="name of a host, as host list has it")
        parser.add_argument("--reason", metavar="<text>", help="why, for other operators")
        parser.add_argument(
            "--at",
            type=arguments.coming,
            metavar="<time>",
            help="when it begins: with its zone, such as 2026-01-31T12:00:00Z, or how long from "
            "now on, such as 90m or 2d (default: now)",
        )
        parser.add_argument(
            "--for",
            dest="duration",
            type=arguments.duration,
            metavar="<duration>",
            help="how long the maintenance takes, such as 4h (default: until host undrain)",
        )
        parser.add_argument(
            "--migrate",
            action="store_true",
            default=None,
            help="live-migrate the jobs there to idle slots of other hosts (default: they run on "
            "until they end)",
        )
        parser.add_argument(
            "--wait",
            action="store_true",
            help="return when no process holds a slot there any more; interrupted, the drain "
            "goes on",
        )
        return parser

    def take_action(self, parsed_args):
        api = self.app.client_manager.twotier
        host = api.drain(
            parsed_args.host,
            reason=parsed_args.reason,
            starts_at=parsed_args.at,
            ends_at=_end(parsed_args.at, parsed_args.duration),
            migrate=parsed_args.migrate,
        )
        return shown(_drained(api, host) if parsed_args.wait else host)


class UndrainHost(tables.ShowOne):
    """End the drain of a host: it takes new processes again; for administrators"""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument("host", metavar="<host>", help="name of a drained host")
        return parser

    def take_action(self, parsed_args):
        api = self.app.client_manager.twotier
        host = api.undrain(parsed_args.host)
        # The drain has ended, whether or not the API can read the host's slots now.
        with contextlib.suppress(ApiError):
            # A host that has left the ledger has no slots.
            host = {each["name"]: each for each in api.hosts()}.get(host["name"], host)
        return shown(host)


def _end(begin: str | None, seconds: float | None) -> str | None:
    """When a window ends that begins then, or now.

    :raises CommandError: if it is over already.
    """
    if seconds is None:
        return None
    if seconds <= 0:
        raise CommandError("--for: give a duration of more than 0, such as 4h")
    now = datetime.now(UTC)
    end = (now if begin is None else datetime.fromisoformat(begin)) + timedelta(seconds=seconds)
    if end <= now:
        raise CommandError(
            f"--at, --for: this maintenance was over at {_shown(end)}, and it is {_shown(now)} now"
        )
    return end.isoformat()


def _shown(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _waits(host: dict) -> str:
    """What the command waits for, in a line."""
    name, drain = host["name"], host["drain"]
    if drain["state"] == "planned":
        begin = _shown(datetime.fromisoformat(drain["starts_at"]))
        return (
            f"{name}: the drain begins at {begin}; waiting until nothing is left on the host then"
        )
    return f"{name}: waiting until no process holds a slot there any more"


def _drained(api: Api, host: dict) -> dict:
    """The host, once it is drained, or its drain has ended."""
    said = None
    while host["drain"] and host["drain"]["state"] != "drained":
        if (waits := _waits(host)) != said:
            print(waits, file=sys.stderr, flush=True)
            said = waits
        time.sleep(INTERVAL)
        try:
            found = {each["name"]: each for each in api.hosts()}
        except ApiError as error:
            if not error.passing:
                raise
            continue
        if host["name"] not in found:
            break  # it has left the ledger, so nothing of ours is there
        host = found[host["name"]]
    return host
