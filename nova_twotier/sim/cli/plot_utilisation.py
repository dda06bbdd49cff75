"""`plot utilisation`: how full both tiers were."""

from nova_twotier.sim.cli import options, progress, values
from nova_twotier.sim.cli.command import Action


class PlotUtilisation(Action):
    """Plot how many slots were in use over time, in both tiers"""

    _epilog = "Example: twotier-sim plot utilisation schedule.csv --nodes 128 --out use.png"

    def add_arguments(self, parser):
        options.add_schedule(parser)
        parser.add_argument(
            "--nodes",
            type=values.whole(1),
            metavar="N",
            help="slots of the machine, e.g. 128 (default: as many as the schedule uses)",
        )
        options.add_plot(parser)

    def take_action(self, parsed_args):
        from nova_twotier.sim import schedules
        from nova_twotier.sim.plots import files, utilisation

        outputs = [files.writable(path) for path in parsed_args.out]
        with progress.steps(parsed_args, 2 + len(outputs)) as step:
            step(f"reading {parsed_args.schedule}")
            schedule = schedules.read(parsed_args.schedule)
            step("counting")
            of = f": {schedule.title}" if schedule.title else ""
            chart = utilisation.of(
                schedule.stays,
                slots=parsed_args.nodes,
                begin=parsed_args.begin,
                end=parsed_args.end,
                title=parsed_args.title or f"Slots in use{of}",
                dated=schedule.dated,
            )
            for path in outputs:
                step(f"drawing {path}")
                files.draw(chart, path)
        return 0
