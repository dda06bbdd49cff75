"""Raises the weight of a VM about which libvirt does not answer."""

import threading
from collections.abc import Callable

from nova_twotier.agent.guests import Hypervisor

#: Seconds without an answer until a VM is raised. Answers take milliseconds otherwise.
_PATIENCE = 0.5


class Lifeline(threading.Thread):
    """Watches the agent's requests from a thread of its own.

    While libvirt waits for the process of a VM to end, it answers nobody who asks about that VM, or
    about all of them. Beside a busy foreground VM, a process with a low weight takes minutes for
    that.

    :param lift: called once for each request that hangs, with the uuid of the VM; None if it may
        hang with any VM.
    """

    def __init__(self, hypervisor: Hypervisor, lift: Callable[[str | None], None]):
        super().__init__(name="lifeline", daemon=True)
        self._hypervisor, self._lift = hypervisor, lift
        self._ended = threading.Event()

    def run(self) -> None:
        lifted = None
        while not self._ended.wait(_PATIENCE / 2):
            request = self._hypervisor.asks
            if request is not None and request is not lifted and request.lasts >= _PATIENCE:
                lifted = request
                self._lift(request.uuid)

    def stop(self) -> None:
        self._ended.set()
        self.join()
