"""Finds requests that were lost between nova-api and nova-compute, as RabbitMQ may lose them.

nova-api gives the server a task first, records the action, and only then sends the request on. If
that is lost, the server keeps its task for ever. Whoever receives the request records an event of
the action before anything else: without one, nobody has begun.
"""

from collections.abc import Mapping

from nova_twotier.cloud.errors import Undecided
from nova_twotier.cloud.reader import Reader
from nova_twotier.cloud.servers import Server, seconds

#: The action that sets each task from which a server may be reset to `active`, because nothing has
#: been done to it yet.
RESETTABLE = {
    "powering-on": "start",
    "shelving": "shelve",
    "suspending": "suspend",
    "migrating": "live-migration",
}
#: The action that sets each task of bringing a saved server back. Reset, the server would count as
#: running without its image or its memory: there is no way back for it.
BRINGING_BACK = {"unshelving": "unshelve", "resuming": "resume"}
#: The same for a server of which only the disk counts: what is in its memory may be lost.
DISK_ONLY = {**RESETTABLE, "resuming": "resume"}
#: The states that servers are in before each of these. After a reset, a guest that is off shows as
#: off again as soon as its nova-compute looks; one that is paused or suspended would not.
VM_STATES = {
    **dict.fromkeys(RESETTABLE, frozenset({"active", "stopped"})),
    "unshelving": frozenset({"shelved_offloaded"}),
    "resuming": frozenset({"suspended"}),
}
#: Tasks that a nova-conductor sets to work on, not the nova-compute of the server's host.
OF_CONDUCTORS = frozenset({"migrating", "unshelving"})
#: Seconds in which a request may be on its way: longer than Nova waits for any answer by itself,
#: and than it takes to see that a nova-compute is down (60 s each by default).
ON_ITS_WAY = 180.0


def is_lost(reader: Reader, server: Server, actions: Mapping[str, str] = RESETTABLE) -> bool:
    """Whether the request that gave a server its task was lost; False if somebody has begun.

    :param actions: the action that sets each task in question.
    :raises Undecided: if it is not known yet: a nova-compute or nova-conductor that is down may
        find the request when it is back.
    """
    shown = reader.server(server.id)
    task = server.task or ""
    if shown is None or shown.get("OS-EXT-STS:task_state") != task or task not in actions:
        return False
    action = actions[task]
    if shown.get("OS-EXT-STS:vm_state") not in VM_STATES[task]:
        return False
    found, now = reader.latest_action(server.id, action)
    if found is None or found["events"]:
        return False
    if now < (seconds(found["start_time"]) or now) + ON_ITS_WAY:
        raise Undecided(f"the request to {action} server {server.id} may still be on its way")
    if task != "unshelving":  # then it is on no host
        # What Nova shows of the host with a server hides whether a disabled service is up.
        compute = reader.computes().get(shown.get("OS-EXT-SRV-ATTR:host") or "", {})
        if compute.get("state") != "up":
            raise Undecided(
                f"the nova-compute of server {server.id} is down: it may {action} later"
            )
    if task in OF_CONDUCTORS and not reader.conductors_are_up():
        raise Undecided(f"a nova-conductor is down: it may {action} server {server.id} later")
    return True
