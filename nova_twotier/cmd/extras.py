"""The installed commands that need an extra: without it, each says in one line which one."""

import importlib
import sys
from functools import partial


def missing(error: ModuleNotFoundError, extra: str) -> str:
    """The end of an error message: which library is missing, and what to install.

    :raises ModuleNotFoundError: if the module is one of ours, which no extra brings.
    """
    library = (error.name or "nova_twotier").partition(".")[0]
    if library == "nova_twotier":
        raise error
    return f"needs {library}, which is not installed: pip install 'nova-twotier[{extra}]'"


def _run(command: str, module: str, extra: str) -> int:
    # Not only the import: some commands import more when they know what they are to do.
    try:
        return importlib.import_module(module).main()
    except ModuleNotFoundError as error:
        print(f"{command}: {missing(error, extra)}", file=sys.stderr)
        return 1


agent = partial(_run, "nova-twotier-agent", "nova_twotier.cmd.agent", "agent")
api = partial(_run, "twotier-api", "nova_twotier.cmd.api", "api")
calibrate = partial(_run, "twotier-calibrate", "nova_twotier.cmd.calibrate", "calibrate")
fakecloud = partial(_run, "fakecloud", "nova_twotier.tools.fakecloud.cli", "demo")
manager = partial(_run, "twotier-manager", "nova_twotier.cmd.manager", "manager")
replay = partial(_run, "twotier-replay", "nova_twotier.tools.replay.cli", "demo")
sim = partial(_run, "twotier-sim", "nova_twotier.sim.cli", "sim")
