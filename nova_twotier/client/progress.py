"""Watches a job until it runs or is over, and shows its progress."""

import shutil
import time
from collections.abc import Callable

from nova_twotier.client.durations import clock
from nova_twotier.client.rest import OVER, Api, ApiError

#: Seconds between two polls.
INTERVAL = 1.0


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


def watch(api: Api, uuid: str, show: Callable[[str], None], sleep=time.sleep) -> str:
    """Wait until a job runs or is over; returns its state.

    :raises ApiError: if the API refuses; a passing error is shown, and the request repeated.
    """
    while True:
        try:
            explanation = api.explain(uuid)
        except ApiError as error:
            if not error.passing:
                raise
            show(f"{error}; trying again")
        else:
            show(_line(explanation))
            if explanation["state"] in ("running", *OVER):
                return explanation["state"]
        sleep(INTERVAL)


def _line(explanation: dict) -> str:
    place = f"number {explanation['position']} in the queue: " if explanation["position"] else ""
    return f"{place}{explanation['reason']}"
