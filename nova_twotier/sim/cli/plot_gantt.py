"""`plot gantt`: who ran where, in both tiers."""

from nova_twotier.sim.cli import options, values
from nova_twotier.sim.cli.command import Action


class PlotGantt(Action):
    """Plot which job ran on which slot, foreground above background"""

    _epilog = (
        "Example: twotier-sim plot gantt schedule.csv --begin 86400 --end 172800 --slots 0-31 "
        "--out gantt.png --out gantt.html"
    )

    def add_arguments(self, parser):
        options.add_schedule(parser)
        parser.add_argument(
            "--slots",
            type=values.span,
            metavar="FIRST-LAST",
            help="only these slots, e.g. 0-31 (default: all)",
        )
        options.add_plot(parser)

    def take_action(self, parsed_args):
        from nova_twotier.sim import tables
        from nova_twotier.sim.plots import files, gantt

        outputs = [files.checked(path) for path in parsed_args.out]
        chart = gantt.of(
            tables.read(parsed_args.schedule),
            begin=parsed_args.begin,
            end=parsed_args.end,
            slots=parsed_args.slots,
            title=parsed_args.title or "Schedule",
        )
        for path in outputs:
            files.draw(chart, path)
        return 0
