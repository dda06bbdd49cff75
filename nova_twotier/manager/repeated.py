"""Requests to Nova that each poll makes anew as long as it sees what they are to change."""

from collections.abc import Callable
from concurrent.futures import Future

from nova_twotier.db.progress import RequestKey
from nova_twotier.manager.asked import Asked
from nova_twotier.manager.operations.operation import CloudRequest


class Repeated:
    """Requests of one kind, one for each server, of which few really reach Nova.

    :param tell: sends a request; its future holds the error, or None.
    :param purpose: of the requests, as `RequestKey` names it.
    :param pause: seconds until a request whose effect does not show is sent again.
    """

    def __init__(self, tell: Callable[[CloudRequest], Future], purpose: str, pause: float):
        self._tell, self._purpose, self._pause = tell, purpose, pause
        #: The last request for each server: in the poll before, and in this one.
        self._before: dict[str, Asked] = {}
        self._asked: dict[str, Asked] = {}

    def begin(self) -> None:
        """Begin a poll: a server that this poll asks nothing for is forgotten at the next."""
        self._before, self._asked = self._asked, {}

    def ask(self, server: str, run: Callable[[], object], now: float) -> bool:
        """Send a request for a server, by its id, unless one is under way or was sent just before.

        :returns: whether it was sent.
        """
        asked, sent = self._before.get(server), False
        if asked is None or asked.may_repeat(now, self._pause):
            answer = self._tell(CloudRequest(RequestKey(self._purpose, server), run))
            asked, sent = Asked(now, answer), True
        self._asked[server] = asked
        return sent
