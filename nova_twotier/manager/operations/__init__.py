"""How each kind of action is carried out, one step at a time.

From the action's record and an observation, an operation derives the requests to make now and
whether the action is over, so a restarted manager can continue. A request is not repeated while
Nova works on it: the server is busy then. Writes to the ledger are made at once; repeating one
changes nothing.
"""

from nova_twotier.db.states import ActionKind
from nova_twotier.manager.operations.end import End
from nova_twotier.manager.operations.evict import Evict
from nova_twotier.manager.operations.migrate import Migrate
from nova_twotier.manager.operations.operation import Operation
from nova_twotier.manager.operations.power_on import PowerOn
from nova_twotier.manager.operations.relocate import Relocate
from nova_twotier.manager.operations.start import Start
from nova_twotier.manager.operations.swap import Swap
from nova_twotier.manager.operations.vacate import Vacate

OPERATIONS: dict[str, Operation] = {
    ActionKind.EVICT: Evict(),
    ActionKind.SWAP: Swap(),
    ActionKind.MIGRATE: Migrate(),
    ActionKind.RELOCATE: Relocate(),
    ActionKind.VACATE: Vacate(),
    ActionKind.START: Start(),
    ActionKind.POWER_ON: PowerOn(),
    ActionKind.END: End(),
}
