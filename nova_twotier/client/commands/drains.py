"""`openstack twotier host drain|undrain`, for administrators: maintenance, as `scontrol` has it."""

import contextlib
import sys
import time
from datetime import UTC, datetime, timedelta

from osc_lib.exceptions import CommandError

from nova_twotier.client import arguments, begin, tables
from nova_twotier.client.commands.hosts import shown
from nova_twotier.client.rest import Api, ApiError

#: Seconds between two looks at a host that is waited for.
INTERVAL = 5.0


class DrainHost(tables.ShowOne):
    """Drain a host: nothing new is placed there, and jobs end or are moved; for administrators

    If the host has a drain, begun or planned, this changes it: what is not given stays as it is.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument("host", metavar="<host>", help="name of a host, as host list has it")
        reason = parser.add_mutually_exclusive_group()
        reason.add_argument("--reason", metavar="<text>", help="why, for other operators")
        reason.add_argument(
            "--no-reason",
            dest="reason",
            action="store_const",
            const="",
            help="without a reason (default)",
        )
        parser.add_argument(
            "--at",
            type=begin.parse,
            metavar="<time>",
            help=f"when it begins: {begin.FORMS} (default: now; of a drain that has an end, this "
            "moves the end, too)",
        )
        end = parser.add_mutually_exclusive_group()
        end.add_argument(
            "--for",
            dest="duration",
            type=arguments.duration,
            metavar="<duration>",
            help="how long the maintenance takes from its beginning on, such as 4h",
        )
        end.add_argument("--no-end", action="store_true", help="until host undrain (default)")
        migrate = parser.add_mutually_exclusive_group()
        migrate.add_argument(
            "--migrate",
            action="store_true",
            default=None,
            help="live-migrate the jobs there to idle slots of other hosts",
        )
        migrate.add_argument(
            "--no-migrate",
            dest="migrate",
            action="store_false",
            default=None,
            help="the jobs there run on until they end (default)",
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
        given = {"reason": parsed_args.reason, "migrate": parsed_args.migrate}
        change = {name: value for name, value in given.items() if value is not None}
        change |= _window(api, parsed_args)
        host = api.drain(parsed_args.host, change)
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


def _window(api: Api, parsed_args) -> dict[str, str | None]:
    """The fields of a request that set the window of a drain.

    A beginning that is not given is that of the drain that the host has; so is how long it takes.

    :raises CommandError: if it is over already.
    """
    start, seconds = parsed_args.at, parsed_args.duration
    if seconds is not None and seconds <= 0:
        raise CommandError("--for: give a duration of more than 0, such as 4h")
    given = {} if start is None else {"starts_at": start}
    if parsed_args.no_end:
        return {**given, "ends_at": None}
    if start is None and seconds is None:
        return {}
    now = datetime.now(UTC)
    begins = None if start is None else datetime.fromisoformat(start)
    takes = None if seconds is None else timedelta(seconds=seconds)
    if begins is None or takes is None:
        since, lasts = _known(api, parsed_args.host)
        begins, takes = begins or since or now, takes or lasts
    if takes is None:
        return given
    try:
        end = begins + takes
    except OverflowError:
        raise CommandError("--at, --for: this maintenance ends after the year 9999") from None
    if end <= now:
        raise CommandError(
            f"--at, --for: this maintenance was over at {_shown(end)}, and it is {_shown(now)} "
            "now; --for counts from the beginning, and --at now begins anew"
        )
    return {**given, "ends_at": end.isoformat()}


def _known(api: Api, name: str) -> tuple[datetime | None, timedelta | None]:
    """When the drain of a host begins, and how long it takes, as far as there is one."""
    drain = next((host.get("drain") for host in api.hosts() if host["name"] == name), None)
    if drain is None:
        return None, None
    since, end = datetime.fromisoformat(drain["starts_at"]), drain["ends_at"]
    return since, None if end is None else datetime.fromisoformat(end) - since


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
