"""Fencing of hosts: runs the operator's command that stops all guests of a dead host."""

import shlex
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import Executor

from oslo_log import log as logging

from nova_twotier.db.store import DATABASE_ERRORS
from nova_twotier.db.terms import Deposed
from nova_twotier.manager.asked import Asked

LOG = logging.getLogger(__name__)

#: Seconds until a failed command is run again.
RETRY_AFTER = 60.0


class Fence:
    """Fences hosts without waiting for the command.

    :param options: group `[manager]`: `fence_command` and `fence_timeout`.
    :param executor: runs the command.
    :param permit: called before each run; raises `Deposed` if another manager leads.
    :param run: `subprocess.run` or a substitute.
    """

    def __init__(
        self,
        options,
        executor: Executor,
        permit: Callable[[], None] = lambda: None,
        run: Callable[..., object] = subprocess.run,
    ):
        self._options, self._executor = options, executor
        self._permit, self._run = permit, run
        #: The last run of the command for each host, and whether it succeeded.
        self._begun: dict[str, Asked[bool]] = {}

    def fenced(self, host: str, now: float) -> bool:
        """Whether a host is fenced; starts the command if it has not succeeded yet.

        Without a command every host counts as fenced: the operator has other means, or takes the
        risk.
        """
        if not self._options.fence_command:
            return True
        begun = self._begun.get(host)
        if begun is not None and begun.answer.done() and begun.answer.result():
            return True
        if begun is None or begun.may_repeat(now, RETRY_AFTER):
            self._begun[host] = Asked(now, self._executor.submit(self._fence, host))
        return False

    @property
    def running(self) -> bool:
        """Whether the command runs for some host."""
        return any(not begun.answer.done() for begun in self._begun.values())

    def forget(self, hosts: Iterable[str]) -> None:
        """Forget hosts that are back, so that they are fenced again when they go down again."""
        for host in hosts:
            self._begun.pop(host, None)

    def _fence(self, host: str) -> bool:
        try:
            self._permit()
            # The operator's command, run without a shell.
            self._run(
                [*shlex.split(self._options.fence_command), host],
                check=True,
                timeout=self._options.fence_timeout,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except subprocess.CalledProcessError as error:
            text = " ".join((error.stdout or "").split())
            reason = f"it ended with {error.returncode}: {text}"
        except subprocess.TimeoutExpired as error:
            # Its text has the whole command, and so perhaps a password.
            reason = f"it took longer than {error.timeout:g} s"
        except (OSError, ValueError, Deposed, *DATABASE_ERRORS) as error:
            reason = str(error)
        else:
            LOG.info("Host %s is fenced", host)
            return True
        LOG.error(
            "Host %s is not fenced, so its jobs are not restarted elsewhere: "
            "[manager]fence_command: %s. Trying again in %g s.",
            host,
            reason,
            RETRY_AFTER,
        )
        return False
