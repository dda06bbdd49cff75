"""`compare`: several policies on one workload."""

from nova_twotier.sim.cli import options, scenario_options
from nova_twotier.sim.cli.command import Table, count, table

KEY = (
    "policy",
    "average_wait_seconds",
    "average_response_seconds",
    "average_bounded_slowdown",
    "migrations_per_job",
    "evictions_per_job",
    "kills_per_job",
    "utilisation",
)


def _rejections(rejected: int, row: dict, parsed) -> str:
    jobs = count(rejected, "job")
    if parsed.topology or not parsed.queueing:
        return f"up to {jobs} a run rejected, which --long counts"
    slots = f"the {row['nodes']} slots of {row['workload']}"
    return f"{jobs} rejected in every run: more processes than {slots}"


class Compare(Table):
    """Run several policies on the same workload and print a row each"""

    _epilog = "Example: twotier-sim compare NASA.swf --policy easy,cmcbf,amcbf --load 0.7"

    def add_arguments(self, parser):
        options.add_source(parser)
        options.add_policies(parser)
        options.add_load(parser)
        options.add_workload(parser)
        scenario_options.add_scenario(parser)
        options.add_parallel(parser)
        parser.add_argument(
            "--long", action="store_true", help="print all metrics, not only the most important"
        )

    def columns(self, parsed_args):
        from nova_twotier.sim import metrics

        return metrics.columns(parsed_args.qos) if parsed_args.long else KEY

    def take_action(self, parsed_args):
        from nova_twotier.sim import sweep

        points = sweep.grid(
            [parsed_args.source],
            parsed_args.policy,
            [parsed_args.load],
            [parsed_args.seed],
            scenario_options.scenario(parsed_args, *parsed_args.policy),
            nodes=options.nodes(parsed_args),
            head=parsed_args.head,
        )
        sweep.check(points, self.app.complain)
        found = dict(
            sweep.run(
                points, jobs=parsed_args.jobs, dask=parsed_args.dask, progress=not parsed_args.quiet
            )
        )
        rows = [found[index] for index in range(len(points))]
        if rejected := max(row["rejected"] for row in rows):
            self.app.complain(_rejections(rejected, rows[0], parsed_args))
        return table(rows, self.columns(parsed_args))
