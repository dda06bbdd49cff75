"""`plot load`: a metric against the load."""

import pathlib

from nova_twotier.sim.cli import options, progress, values
from nova_twotier.sim.cli.command import Action


class PlotLoad(Action):
    """Plot a metric against the load, a curve a policy, from the results of a sweep"""

    _epilog = (
        "Example: twotier-sim plot load results --metric average_wait_seconds --policy easy,cmcbf "
        "--out wait.png"
    )

    def add_arguments(self, parser):
        parser.add_argument(
            "results", metavar="RESULTS", help="directory of a sweep, or its table, e.g. results"
        )
        parser.add_argument(
            "--metric",
            default="average_bounded_slowdown",
            metavar="NAME",
            help="a column of the table, e.g. average_wait_seconds, p90_bounded_slowdown, "
            "utilisation (default: average_bounded_slowdown)",
        )
        parser.add_argument(
            "--policy",
            type=lambda text: text.split(","),
            metavar="P[,P...]",
            help="which policies in which order, e.g. easy,cmcbf (default: all)",
        )
        parser.add_argument(
            "--where",
            type=values.condition,
            action="append",
            default=[],
            metavar="COLUMN=VALUE",
            help="only the runs with this value, e.g. slots=2; may be repeated",
        )
        parser.add_argument("--log", action="store_true", help="logarithmic vertical axis")
        options.add_plot(parser)

    def take_action(self, parsed_args):
        from nova_twotier.sim import sweep, tables
        from nova_twotier.sim.plots import files, load

        outputs = [files.writable(path) for path in parsed_args.out]
        results = pathlib.Path(parsed_args.results)
        if not results.exists():
            raise ValueError(f"{results}: there is no such directory or table of a sweep")
        with progress.steps(parsed_args, 1 + len(outputs)) as step:
            step(f"reading {results}")
            runs = (
                sweep.collect(results, say=self.app.complain)
                if results.is_dir()
                else tables.read(results)
            )
            chart = load.of(
                tables.select(runs, parsed_args.where),
                parsed_args.metric,
                parsed_args.policy,
                title=parsed_args.title,
                logarithmic=parsed_args.log,
            )
            for path in outputs:
                step(f"drawing {path}")
                files.draw(chart, path)
        return 0
