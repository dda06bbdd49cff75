"""`workload convert`: a trace to another trace or to a table."""

from nova_twotier.sim.cli import options, workload_output
from nova_twotier.sim.cli.command import Action


class WorkloadConvert(Action):
    """Cut a trace, stretch its load, or write it as a table"""

    _epilog = "Example: twotier-sim workload convert KTH.swf.gz --head 5000 --out kth5000.parquet"

    def add_arguments(self, parser):
        options.add_source(parser)
        options.add_load(parser)
        options.add_workload(parser)
        workload_output.add_arguments(parser)

    def take_action(self, parsed_args):
        workload_output.check(parsed_args.out)
        workload_output.write(options.workload(parsed_args, self.app.complain), parsed_args)
        return 0
