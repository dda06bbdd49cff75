"""How each kind of action is carried out: the next step from what is seen.

An operation looks at the action's record and an observation, and says what to request of Nova now
and whether the action is over; so a manager that was killed can go on. Nothing is requested twice
while Nova is at it, because a server that is being worked on is busy. Writes to the ledger are made
at once: repeating one changes nothing.
"""

from nova_twotier.db.states import ActionKind
from nova_twotier.manager.operations.end import End
from nova_twotier.manager.operations.evict import Evict
from nova_twotier.manager.operations.migrate import Migrate
from nova_twotier.manager.operations.operation import Operation
from nova_twotier.manager.operations.power_on import PowerOn
from nova_twotier.manager.operations.start import Start
from nova_twotier.manager.operations.swap import Swap

OPERATIONS: dict[str, Operation] = {
    ActionKind.EVICT: Evict(),
    ActionKind.SWAP: Swap(),
    ActionKind.MIGRATE: Migrate(),
    ActionKind.START: Start(),
    ActionKind.POWER_ON: PowerOn(),
    ActionKind.END: End(),
}
