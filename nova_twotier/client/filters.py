"""Options that select jobs, and what the API calls them."""

from osc_lib.exceptions import CommandError

from nova_twotier.client import arguments, names
from nova_twotier.client.rest import OVER

#: Characters with a meaning in a pattern.
WILDCARDS = ("*", "?")

ACTIVE = ("queued", "starting", "restoring", "running", "preempting", "ending")
STATES = (*ACTIVE, *OVER)


def add(parser, states: tuple[str, ...]) -> None:
    """Add the options.

    :param states: that may be given.
    """
    parser.add_argument(
        "--state",
        dest="states",
        action="append",
        choices=states,
        help="only jobs in this state; repeat for several",
    )
    parser.add_argument(
        "--qos",
        dest="classes",
        action="append",
        choices=arguments.CLASSES,
        help="only jobs of this class of service; repeat for several",
    )
    parser.add_argument(
        "--name",
        metavar="<pattern>",
        help="only jobs of this name; `*` stands for any characters, `?` for one: quote them, as "
        "in `'solver-*'`",
    )
    parser.add_argument(
        "--user", metavar="<user>", help="only jobs of this user, by id, or by name if you may"
    )
    parser.add_argument("--pool", metavar="<pool>", help="only jobs of this pool of hosts")


def chosen(clients, parsed_args) -> dict:
    """What the options choose, as parameters of the API; empty if none was given.

    :raises CommandError: if there is no such user.
    """
    name, user = parsed_args.name, parsed_args.user
    pattern = name is not None and any(wildcard in name for wildcard in WILDCARDS)
    try:
        found = {
            "state": parsed_args.states,
            "qos": parsed_args.classes,
            "name_pattern" if pattern else "name": name,
            "user_id": None if user is None else names.user_id(clients, user),
            "pool": parsed_args.pool,
        }
    except ValueError as error:
        raise CommandError(str(error)) from error
    return {key: value for key, value in found.items() if value is not None}
