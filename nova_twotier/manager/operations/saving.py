"""Servers at rest: shelved, without a host, or suspended, on theirs without a slot."""

from nova_twotier.cloud.nova import Server
from nova_twotier.db.models import Action, Preemption
from nova_twotier.manager.operations.operation import Call, Environment, Step, tried

SHELVED, SUSPENDED = Preemption.SHELVE, Preemption.SUSPEND


def is_saved(server: Server, mode: Preemption) -> bool:
    """Whether it is where that way of preemption leads; one that was off cannot be suspended."""
    if server.busy:
        return False
    if mode is SHELVED:
        return server.status == "SHELVED_OFFLOADED"
    return server.status in ("SUSPENDED", "SHUTOFF")


def save(gang: list[Server], mode: Preemption, env: Environment, prefix: str = "") -> Step:
    """Shelve or suspend those that are not, and that Nova is not busy with."""
    act = env.cloud.shelve if mode is SHELVED else env.cloud.suspend
    return Step(
        [
            Call(f"{prefix}{server.id}", lambda server=server: act(server))
            for server in gang
            if not server.busy and not is_saved(server, mode)
        ]
    )


def resume(action: Action, gang: list[Server], env: Environment) -> list[Call]:
    """Requests to resume those that are suspended, as often as an operation is tried."""
    return [
        Call(f"undo {server.id}", lambda server=server: env.cloud.resume(server))
        for server in gang
        if server.status == "SUSPENDED"
        and not server.busy
        and tried(action, f"undo {server.id}") < env.attempts
    ]
