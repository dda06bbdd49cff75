"""The table of commands. A command's module is imported when it is used."""

from importlib.metadata import EntryPoint

from cliff.commandmanager import CommandManager

COMMANDS = {
    "compare": "compare:Compare",
    "plot gantt": "plot_gantt:PlotGantt",
    "plot load": "plot_load:PlotLoad",
    "plot utilisation": "plot_utilisation:PlotUtilisation",
    "policy list": "policy_list:PolicyList",
    "reproduce": "reproduce:Reproduce",
    "run": "run:Run",
    "sweep": "sweep:Sweep",
    "traces fetch": "traces_fetch:TracesFetch",
    "traces list": "traces_list:TracesList",
    "traces verify": "traces_verify:TracesVerify",
    "what-if": "what_if:WhatIf",
    "workload convert": "workload_convert:WorkloadConvert",
    "workload describe": "workload_describe:WorkloadDescribe",
    "workload fit": "workload_fit:WorkloadFit",
    "workload generate": "workload_generate:WorkloadGenerate",
}


class UnknownCommand(ValueError):
    """Words that are no command; the message says which there are."""


class Commands(CommandManager):
    """Finds a command in the table, not among the entry points of all that is installed."""

    def __init__(self):
        super().__init__()
        for name, place in COMMANDS.items():
            self.commands[name] = EntryPoint(name, f"{__package__}.{place}", "twotier-sim")

    def find_command(self, argv: list[str]):
        """:raises UnknownCommand: if the words do not begin with a command."""
        try:
            return super().find_command(argv)
        except ValueError:
            pass
        verbs = [name for name in COMMANDS if name.split()[0] == argv[0]]
        if verbs:
            raise UnknownCommand(f"{argv[0]} is one of: {', '.join(verbs)}")
        raise UnknownCommand(f"there is no command {argv[0]!r}; see --help")
