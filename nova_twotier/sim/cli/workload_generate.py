"""`workload generate`: jobs of a model, as a trace."""

from nova_twotier.sim.cli import options, traces
from nova_twotier.sim.cli.command import Action


class WorkloadGenerate(Action):
    """Draw jobs from a model and write them as a trace or a table"""

    _epilog = (
        "Example: twotier-sim workload generate lublin:1000 --nodes 128 --load 0.7 --seed 1 "
        "--out lublin.swf"
    )

    def add_arguments(self, parser):
        options.add_source(parser)
        options.add_load(parser)
        options.add_workload(parser)
        traces.add_arguments(parser)

    def take_action(self, parsed_args):
        traces.write(options.workload(parsed_args), parsed_args)
        return 0
