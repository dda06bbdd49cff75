"""Follows the events of jobs: each is given once, as soon as the API shows it."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from nova_twotier.client.progress import interval
from nova_twotier.client.rest import Api, ApiError

#: Events that are recorded at the same time may show up in another order than that of their ids.
#: So each poll asks again for the last seconds before the newest known event: as long as the
#: longest transaction and the difference between the clocks of managers and API together.
OVERLAP = 60.0


class Follower:
    """Follows the events that match filters.

    :param since: only events of this time or later, as the API takes it.
    :param say: called with a line when the API does not answer, and it is asked again.
    :param now: the time in seconds since the epoch.
    :param filters: query parameters of the list of events.
    """

    def __init__(
        self,
        api: Api,
        since: str | None,
        say: Callable[[str], None],
        sleep: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.time,
        **filters,
    ):
        self._api = api
        self._least = None if since is None else _seconds(since)
        self._say = say
        self._sleep = sleep
        self._now = now
        self._filters = filters
        #: Times of the events that are known and may be in the next answer, by id.
        self._known: dict[str, float] = {}
        #: Where the next poll begins, in seconds since the epoch; None: with the first event.
        self._start = self._least

    def existing(self, limit: int | None) -> list[dict]:
        """The events that exist, oldest first, and from now on count as known.

        :param limit: only the newest so many; None: all.
        :raises ApiError: if the API refuses or does not answer.
        """
        newest = self._api.events(limit=1, sort_dir="desc", since=self._since(), **self._filters)
        self._meet(newest)
        self._move()
        # Those that may be in the first poll's answer, whatever is shown of them.
        self._meet(self._api.events(since=self._since(), **self._filters))
        if limit == 0:
            return []
        since = None if self._least is None else _text(self._least)
        shown = self._api.events(limit=limit, sort_dir="desc", since=since, **self._filters)
        return self._meet(shown)[::-1]

    def new(self) -> Iterator[dict]:
        """Events that are not known yet, for ever.

        :raises ApiError: if the API refuses; while it does not answer, it is asked again.
        """
        waited, said = 0.0, ""
        while True:
            pause = interval(waited)
            self._sleep(pause)
            waited += pause
            try:
                for event in self._api.events(since=self._since(), **self._filters):
                    if event["id"] not in self._known:
                        self._meet([event])
                        waited = 0.0
                        yield event
            except ApiError as error:
                if not error.passing:
                    raise
                if str(error) != said:
                    self._say(f"{error}; trying again")
                said = str(error)
            else:
                said = ""
                self._move()

    def _meet(self, events) -> list[dict]:
        found = list(events)
        self._known |= {event["id"]: _seconds(event["at"]) for event in found}
        return found

    def _move(self) -> None:
        """Let the next poll begin later, and forget what it cannot contain."""
        if not self._known:
            return
        # Not by the time of an event alone: a clock may have been wrong when it was recorded.
        newest = min(max(self._known.values()), self._now())
        self._start = max(newest - OVERLAP, self._start or 0.0)
        self._known = {key: at for key, at in self._known.items() if at >= self._start}

    def _since(self) -> str | None:
        return None if self._start is None else _text(self._start)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
