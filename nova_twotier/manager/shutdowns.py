"""Why servers of running jobs are off: did their guests end, or were they stopped?

Nova shows a guest that has powered itself off as SHUTOFF, but also one whose host rebooted, that
was evacuated, or that could not be shelved. To tell them apart, the manager reads, only when a
server is off, its action log, when its host booted, and its console, where the guests of a job with
a report token say how their script ended.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache, partial
from itertools import dropwhile, takewhile

from nova_twotier.cloud import consoles
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.instance_actions import InstanceAction
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.servers import Server
from nova_twotier.core.reasons import Reason, failures
from nova_twotier.db.models import Job
from nova_twotier.db.progress import RequestKey
from nova_twotier.manager.asked import Asked
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.operation import CloudRequest

#: Seconds until a request that was not answered is repeated.
RETRY_AFTER = 5.0
#: A guest that stopped in these seconds before its host booted counts as shut down by the host:
#: hosts stop their guests first, clocks differ, and `uptime` is truncated to minutes.
REBOOT_SLACK = 300.0

STOP, START = "stop", "start"
NOT_IMPLEMENTED = 501
#: Actions after which a guest runs, if they do not fail.
RUNS = frozenset(
    (
        START,
        "create",
        "unshelve",
        "resume",
        "reboot",
        "live-migration",
        "unpause",
        "unrescue",
        "confirmResize",
    )
)
#: Actions that power no guest on or off.
NEUTRAL = frozenset(
    (
        "createImage",
        "createBackup",
        "lock",
        "unlock",
        "pause",
        "changePassword",
        "attach_interface",
        "detach_interface",
        "attach_volume",
        "detach_volume",
        "extend_volume",
        "attach_share",
        "detach_share",
        "swap_volume",
        "refresh_volume_attachment",
        "live_migration_cancel",
        "live_migration_force_complete",
        "trigger_crash_dump",
    )
)


@dataclass(frozen=True, slots=True)
class Shutdown:
    """Why a server is off.

    :param cause: why it was stopped; None: its guest ended.
    :param exit_status: that its guest reported, if it did.
    :param vain: how often it has been started again for this reason.
    :param unreported: nothing else stopped it, but its guest should have reported its end and did
        not.
    """

    cause: Reason | None = None
    exit_status: int | None = None
    vain: int = 0
    unreported: bool = False


#: Why each server is off, for the servers for which that is known.
Verdicts = Mapping[str, Shutdown]


@dataclass(frozen=True)
class _Inquiry:
    """What was asked about a server that was off, and what came of it.

    :param asked: its answer is the error, or None.
    """

    server: Server
    asked: Asked
    found: list[Shutdown]

    def stands(self, server: Server, now: float) -> bool:
        """Whether nothing has changed since, and there is an answer or may soon be one."""
        if server.updated_at != self.server.updated_at:
            return False
        return not self.asked.may_repeat(now, RETRY_AFTER) or self.asked.answer.result() is None


class Shutdowns:
    """Keeps what was found out about each server until it is no longer off.

    :param tell: makes a request; its future has the error, or None.
    """

    def __init__(self, cloud: Cloud, tell: Callable[[CloudRequest], Future]):
        self._cloud, self._tell = cloud, tell
        self._inquiries: dict[str, _Inquiry] = {}

    def poll(self, jobs: Iterable[Job], seen: Observation, down: Container[str]) -> Verdicts:
        """Ask about those servers of these jobs that are off; returns what is known by now.

        :param down: hosts whose nova-compute is down: they cannot be asked.
        """
        before, self._inquiries = self._inquiries, {}
        if not seen.off:
            return {}
        for job in jobs:
            for server in seen.gang(job) if job.uuid in seen.off else ():
                if server.status != "SHUTOFF" or server.busy:
                    continue
                inquiry = before.get(server.id)
                if inquiry is None or not inquiry.stands(server, seen.at):
                    if server.host in down:
                        continue
                    inquiry = self._ask(server, job.report_token, seen.at)
                self._inquiries[server.id] = inquiry
        return {vm: each.found[0] for vm, each in self._inquiries.items() if each.found}

    def _ask(self, server: Server, token: str | None, now: float) -> _Inquiry:
        found: list[Shutdown] = []
        run = partial(self._find_out, server, token, found)
        answer = self._tell(CloudRequest(RequestKey("shutdown", server.id), run, asks=True))
        return _Inquiry(server, Asked(now, answer), found)

    def _find_out(self, server: Server, token: str | None, found: list[Shutdown]) -> None:
        """Put into `found` why a server is off."""
        console = None if token is None else self._console(server)
        if token and console is not None and (status := reported(console, token)) is not None:
            found.append(Shutdown(exit_status=status))
            return
        log = self._cloud.instance_actions(server)
        host = server.host
        booted_at = cache(lambda: self._cloud.booted_at(host) if host else None)
        shutdown = explain(log, booted_at)
        if console is not None and not shutdown.cause:
            shutdown = unreported(log, booted_at())
        found.append(shutdown)

    def _console(self, server: Server) -> str | None:
        """The end of a server's console log; None if this cloud has none.

        :raises CloudError: if it may be available later.
        """
        try:
            return self._cloud.console_log(server, consoles.LINES)
        except CloudError as error:
            if error.passing and error.status != NOT_IMPLEMENTED:
                raise
            return None


def reported(console: str, token: str) -> int | None:
    """The exit status that a guest wrote to its console last; None if it wrote none."""
    found = re.findall(rf"twotier-exit {re.escape(token)} (\d{{1,3}})\b", console)
    return int(found[-1]) if found else None


def explain(log: Iterable[InstanceAction], booted_at: Callable[[], float | None]) -> Shutdown:
    """Why a server is off, by its action log, newest first.

    It ended by itself if the log has a stop while it ran, as nova-compute records for a guest that
    is off, and its host has not rebooted since it was started. A stop by an administrator counts as
    its end, too.

    :param booted_at: asks when its host booted; called only if needed.
    """
    actions = _relevant(log)
    if vain := len(list(takewhile(lambda each: each.name == START and each.failed, actions))):
        return Shutdown(failures.NOT_UP(), vain=vain)
    before = list(dropwhile(_is_stop, actions))
    if len(before) == len(actions) or not before or before[0].failed or before[0].name not in RUNS:
        return Shutdown(failures.LEFT_OFF(action=before[0].name if before else None))
    return Shutdown(failures.HOST_REBOOTED()) if _rebooted(actions, booted_at()) else Shutdown()


def unreported(log: Iterable[InstanceAction], boot: float | None) -> Shutdown:
    """The verdict on a server whose guest ended by itself, but did not report its end.

    It was started in vain as often as that was not because its host had rebooted.

    :param log: its actions, newest first.
    :param boot: when its host was last booted, if that is known.
    """
    vain, actions = 0, _relevant(log)
    while True:
        actions = list(dropwhile(_is_stop, actions))
        if not actions or actions[0].name != START or _rebooted(actions[1:], boot):
            return Shutdown(failures.UNREPORTED(), vain=vain, unreported=True)
        vain, actions = vain + 1, actions[1:]


def _rebooted(actions: Sequence[InstanceAction], boot: float | None) -> bool:
    """Whether the last stop, after which nothing was done, is due to this boot of the host."""
    stops = list(takewhile(_is_stop, actions))
    before = actions[len(stops) :]
    if boot is None or not stops or not before:
        return False
    return before[0].at < boot and stops[-1].at > boot - REBOOT_SLACK


def _is_stop(action: InstanceAction) -> bool:
    return action.name == STOP


def _relevant(log: Iterable[InstanceAction]) -> Sequence[InstanceAction]:
    return [each for each in log if each.name not in NEUTRAL]
