"""Where the time of a request goes: by filter, by weigher, and in Nova's weight handler itself."""

import collections
import contextlib
import time
from types import SimpleNamespace
from unittest import mock

from nova import weights
from nova.scheduler import manager

COPIES = "Nova: copies of the allocation candidates"
HANDLER = "Nova's weight handler"
_OURS = "ours: "
#: The part that plans VMs with guaranteed bandwidth.
PLAN = f"{_OURS}VirtualClusterFilter"


class Profile:
    """CPU seconds of a scheduler by part, of one request that it handles within `watching`.

    Watches calls for whole lists only, so that what is called for each host is not slowed down. The
    multipliers, which the handler asks of each weigher for each host, are timed afterwards, alone.
    """

    def __init__(self, scheduler: manager.SchedulerManager):
        self._hosts = scheduler.host_manager
        self._spent = collections.Counter()
        self._weighed = collections.Counter()
        self._states = []

    @contextlib.contextmanager
    def watching(self):
        with contextlib.ExitStack() as stack:

            def watch(owner, method, part):
                watched = self._watched(getattr(owner, method), part)
                stack.enter_context(mock.patch.object(owner, method, watched))

            for each in self._hosts.enabled_filters:
                watch(each, "filter_all", _name(each))
            for each in self._hosts.weighers:
                watch(each, "weigh_objects", _name(each))
            watch(self._hosts.weight_handler, "get_weighed_objects", HANDLER)
            watch(weights, "normalize", "normalize")
            copying = SimpleNamespace(deepcopy=self._watched(manager.copy.deepcopy, COPIES))
            stack.enter_context(mock.patch.object(manager, "copy", copying))
            yield

    def _watched(self, function, part):
        def watched(*args, **kwargs):
            begin = time.process_time()
            found = function(*args, **kwargs)
            # A generator works when it is read.
            found = found if isinstance(found, dict | list) else list(found)
            self._spent[part] += time.process_time() - begin
            self._weighed[part] += len(found)
            if part == HANDLER:
                self._states = [each.obj for each in found]
            return found

        return watched

    def parts(self) -> dict[str, float]:
        """Seconds by part, and of the handler what is its own."""
        spent = dict(self._spent)
        normalising = spent.pop("normalize", 0.0)
        multiplying = sum(self._multiplying(each) for each in self._hosts.weighers)
        own = spent.pop(HANDLER, 0.0) - sum(
            self._spent[_name(each)] for each in self._hosts.weighers
        )
        return {
            **spent,
            f"{HANDLER}: normalising": normalising,
            f"{HANDLER}: asking for multipliers": multiplying,
            f"{HANDLER}: tables for its debug log, sums, sorting": own - normalising - multiplying,
        }

    def _multiplying(self, weigher) -> float:
        """A weigher is asked once for each weight that it gave."""
        if not self._weighed[_name(weigher)]:
            return 0.0
        begin = time.process_time()
        for state in self._states:
            weigher.weight_multiplier(state)
        spent = time.process_time() - begin
        return spent * self._weighed[_name(weigher)] / len(self._states)


def is_ours(part: str) -> bool:
    return part.startswith(_OURS)


def _name(each) -> str:
    owner = _OURS if type(each).__module__.startswith("nova_twotier.") else "Nova: "
    return f"{owner}{type(each).__name__}"
