"""`workload fit`: the model of Jann et al. with the parameters of a trace."""

from nova_twotier.sim.cli import options
from nova_twotier.sim.cli.command import Action


class WorkloadFit(Action):
    """Fit the model of Jann et al. (1997) to a trace"""

    _epilog = "Example: twotier-sim workload fit KTH.swf --out kth-model.json"

    def add_arguments(self, parser):
        options.add_source(parser)
        options.add_workload(parser)
        parser.add_argument(
            "--out", required=True, metavar="FILE", help="the model's file, e.g. kth-model.json"
        )

    def take_action(self, parsed_args):
        from nova_twotier.sim import whole_file
        from nova_twotier.sim.workloads import jann97

        whole_file.possible(parsed_args.out)
        parsed_args.load = None
        jann97.fit(options.workload(parsed_args, self.app.complain)).save(parsed_args.out)
        return 0
