"""`sweep`: policies by loads by seeds, kept in a directory."""

import pathlib

from nova_twotier.sim.cli import options, scenario_options, values
from nova_twotier.sim.cli.command import Action, count


class Sweep(Action):
    """Run policies at many loads and seeds; what is finished is kept and not run again"""

    _epilog = (
        "Example: twotier-sim sweep NASA.swf KTH.swf --policy easy,cmcbf --load 0.5:0.9:0.1 "
        "--seeds 5 --out results. The directory gets a file a run, and sweep.csv with "
        "the runs of this command."
    )

    def add_arguments(self, parser):
        parser.add_argument("source", nargs="+", metavar="SOURCE", help=options.SOURCE)
        options.add_policies(parser)
        parser.add_argument(
            "--load",
            type=values.loads,
            default=[None],
            metavar="LOADS",
            help="loads to stretch the arrivals to: FIRST:LAST:STEP or a list, e.g. 0.5:0.9:0.1 "
            "or 0.6,0.8 (default: as they are)",
        )
        parser.add_argument(
            "--seeds",
            type=values.whole(1),
            default=1,
            metavar="N",
            help="runs of each, with seeds from --seed upwards, e.g. 10 (default: 1)",
        )
        parser.add_argument(
            "--out", required=True, metavar="DIR", help="where results are kept, e.g. results"
        )
        options.add_workload(parser)
        scenario_options.add_scenario(parser)
        options.add_parallel(parser)

    def take_action(self, parsed_args):
        from nova_twotier.sim import sweep

        grid = sweep.grid(
            parsed_args.source,
            parsed_args.policy,
            parsed_args.load,
            range(parsed_args.seed, parsed_args.seed + parsed_args.seeds),
            scenario_options.scenario(parsed_args, *parsed_args.policy),
            nodes=options.nodes(parsed_args),
            head=parsed_args.head,
        )
        # A load or a source that is given twice is one run.
        points = list({point.key(): point for point in grid}.values())
        sweep.check(points, self.app.complain)
        done = sweep.resume(
            points,
            parsed_args.out,
            jobs=parsed_args.jobs,
            dask=parsed_args.dask,
            progress=not parsed_args.quiet,
        )
        rejected = max(sweep.finished(point, parsed_args.out)["rejected"] for point in points)
        if rejected:
            why = (
                ""
                if parsed_args.topology or not parsed_args.queueing
                else ": more processes than slots"
            )
            self.app.complain(f"up to {count(rejected, 'job')} a run rejected{why}")
        print(
            f"{count(done, 'run')} done, {len(points) - done} were there: "
            f"{pathlib.Path(parsed_args.out) / sweep.TABLE}",
            file=self.app.stdout,
        )
        return 0
