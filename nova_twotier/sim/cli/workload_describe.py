"""`workload describe`: what a workload is like."""

from nova_twotier.sim.cli import options
from nova_twotier.sim.cli.command import Card, card


class WorkloadDescribe(Card):
    """Print the size, load and distributions of a workload"""

    _epilog = "Example: twotier-sim workload describe NASA.swf --head 5000"

    def add_arguments(self, parser):
        options.add_source(parser)
        options.add_load(parser)
        options.add_workload(parser)

    def take_action(self, parsed_args):
        from nova_twotier.sim.workloads.workload import describe

        workload = options.workload(parsed_args, self.app.complain)
        return card({"workload": workload.name, **describe(workload)})
