"""Watches a job until it has started or finished, and shows its progress."""

import argparse
import shutil
import sys
import time
from collections.abc import Callable

from nova_twotier.client import columns
from nova_twotier.client.brief import ordinal
from nova_twotier.client.rest import OVER, Api, ApiError
from nova_twotier.core.durations import clock

#: Seconds between two polls: at first, and after a long time.
INTERVAL, LONGEST_INTERVAL = 1.0, 10.0

#: Seconds between two updates of a bar.
BAR_INTERVAL = 0.3

#: What one can wait for.
STARTED, FINISHED = "started", "finished"

#: Final states of a job that did not succeed.
UNSUCCESSFUL = ("failed", "cancelled")


def interval(waited: float) -> float:
    """Seconds until the next poll, after nothing has happened for so many seconds.

    Polls are seldom if it takes long, since the project has a rate limit.
    """
    return min(max(INTERVAL, waited / 30), LONGEST_INTERVAL)


class Display:
    """One line that changes on a terminal; elsewhere, a line for each change.

    :param stream: where to write; not the standard output, which is for the result.
    :param now: the time in seconds.
    """

    def __init__(self, stream, now: Callable[[], float] = time.monotonic):
        self._stream = stream
        self._now = now
        self._began = now()
        self._live = stream.isatty()
        self._last = None

    def show(self, text: str) -> None:
        if self._live:
            line = f"{clock(self._now() - self._began)} {text}"
            width = shutil.get_terminal_size().columns - 1
            # Return to the beginning of the line and clear it.
            print(f"\r\033[K{line[:width]}", end="", file=self._stream, flush=True)
        elif text != self._last:
            print(text, file=self._stream, flush=True)
        self._last = text

    def close(self) -> None:
        if self._live and self._last is not None:
            print(file=self._stream, flush=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def bar(total: int, unit: str, options: argparse.Namespace | None):
    """A bar of tqdm on stderr, if that is a terminal, which disappears at its end.

    :param options: those of the whole program: `openstack --quiet` shows no bar.
    """
    import tqdm  # only now: most commands draw none

    quiet = options is not None and options.verbose_level == 0
    return tqdm.tqdm(
        total=total,
        unit=unit,
        file=sys.stderr,
        mininterval=BAR_INTERVAL,
        leave=False,
        disable=True if quiet else None,
    )


def watch(
    api: Api, job: dict, show: Callable[[str], None], until: str = STARTED, sleep=time.sleep
) -> str:
    """Wait until a job has started, or until it has finished; returns its state.

    That it failed or was cancelled is not shown: who waits says it as an error, see `failure`.

    :param until: `STARTED` or `FINISHED`.
    :raises ApiError: if the API refuses; a passing error is shown, and the request repeated.
    """
    goal = OVER if until == FINISHED else ("running", *OVER)
    waited = 0.0
    while True:
        explanation = _patiently(lambda: api.explain(job["uuid"]), show, sleep)
        if explanation["state"] not in UNSUCCESSFUL:
            show(_line(job, explanation))
        if explanation["state"] in goal:
            return explanation["state"]
        pause = interval(waited)
        sleep(pause)
        waited += pause


def _patiently(ask: Callable[[], dict], show: Callable[[str], None], sleep) -> dict:
    """Send a request until it is answered; passing errors are shown, and it is retried."""
    waited = 0.0
    while True:
        try:
            return ask()
        except ApiError as error:
            if not error.passing:
                raise
            show(f"{error}; trying again")
        pause = interval(waited)
        sleep(pause)
        waited += pause


def follow(api: Api, job: dict, until: str, stream) -> dict:
    """Wait for a job and show its progress; returns the job at the end.

    :param stream: where to show it.
    :raises KeyboardInterrupt: after it has been said that the job goes on.
    """
    try:
        with Display(stream) as display:
            watch(api, job, display.show, until)
            # What has become of the job must not depend on the moment at which it is asked.
            return _patiently(lambda: api.job(job["uuid"]), display.show, time.sleep)
    except KeyboardInterrupt:
        print(
            f"no longer waiting for {columns.label(job)}, which goes on; to cancel it: "
            f"openstack twotier job cancel {job['uuid']}",
            file=stream,
            flush=True,
        )
        raise


def failure(job: dict) -> str | None:
    """How a job ended, if it did not succeed."""
    if job["state"] not in UNSUCCESSFUL:
        return None
    if (start := job["reason"].removeprefix("did not start: ")) != job["reason"]:
        return f"{columns.label(job)} failed to start: {start}"
    reason = f": {job['reason']}" if job["reason"] else ""
    return f"{columns.label(job)} is {job['state']}{reason}"


def _line(job: dict, explanation: dict) -> str:
    position = explanation["position"]
    place = f", {ordinal(position)} in the queue" if position else ""
    return f"{columns.label(job)}{place}: {explanation['reason']}{_expected(explanation)}"


def _expected(explanation: dict) -> str:
    """When a waiting job is expected to start, or else when one that runs is expected to end."""
    for name, words in (("predicted_start", "start"), ("predicted_finish", "end")):
        if at := explanation.get(name):  # an API of an earlier release has no such field
            return f"; expected to {words} at {columns.instant(at)}"
    return ""
