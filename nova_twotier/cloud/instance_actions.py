"""What was done to a server, as Nova recorded it, and how long a host has been up."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nova_twotier.cloud.servers import seconds

_UPTIME = re.compile(
    r"\bup\s+(?:(?P<days>\d+)\s+days?,\s*)?"
    r"(?:(?P<hours>\d+):(?P<minutes>\d+)|(?P<only_hours>\d+)\s*hrs?|(?P<only_minutes>\d+)\s*min)?"
)


@dataclass(frozen=True, slots=True)
class InstanceAction:
    """One entry of a server's action log.

    :param name: Nova's, such as `create`, `stop` or `live-migration`. A guest that powers itself
        off is recorded as `stop`, too: by nova-compute, when it notices.
    :param at: when it began, seconds since the epoch by the cloud's clock.
    :param failed: Nova could not do it, or not all of it.
    """

    name: str
    at: float
    failed: bool = False


def action_of(shown: Mapping[str, Any]) -> InstanceAction:
    """An action from its JSON."""
    return InstanceAction(
        shown["action"], seconds(shown["start_time"]) or 0.0, shown.get("message") == "Error"
    )


def uptime_seconds(text: str) -> float | None:
    """How long a host has been up, by the output of `uptime`, cut to whole minutes.

    None if the text does not say.
    """
    found = _UPTIME.search(text)
    if found is None or not any(found.groups()):
        return None
    days, hours, minutes, only_hours, only_minutes = (int(each or 0) for each in found.groups())
    return 60.0 * (minutes + only_minutes + 60 * (hours + only_hours + 24 * days))
