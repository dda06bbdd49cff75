"""`plot gantt`: who ran where, in both tiers."""

from nova_twotier.sim.cli import options, progress, values
from nova_twotier.sim.cli.command import Action


class PlotGantt(Action):
    """Plot which job ran on which slot, foreground above background"""

    _epilog = (
        "Example: twotier-sim plot gantt schedule.csv --begin 86400 --end 172800 --slots 0-31 "
        "--out gantt.png --out gantt.html. Up to 5,000 stays of processes are drawn as bars; of "
        "more, it draws how full each slot was, unless --bars is given."
    )

    def add_arguments(self, parser):
        options.add_schedule(parser)
        parser.add_argument(
            "--slots",
            type=values.span,
            metavar="FIRST-LAST",
            help="only these slots, e.g. 0-31; of a schedule of twotier-manage these hosts, in "
            "the order of their names, from 0 (default: all)",
        )
        kind = parser.add_mutually_exclusive_group()
        kind.add_argument(
            "--bars",
            action="store_true",
            help="bars also if they are more than 5,000, but 50,000 at most",
        )
        kind.add_argument(
            "--density",
            action="store_true",
            help="how full each slot was, also if there are few bars",
        )
        options.add_plot(parser)

    def take_action(self, parsed_args):
        from nova_twotier.sim import schedules
        from nova_twotier.sim.plots import files

        outputs = [files.writable(path) for path in parsed_args.out]
        with progress.steps(parsed_args, 2 + len(outputs)) as step:
            step(f"reading {parsed_args.schedule}")
            schedule = schedules.read(parsed_args.schedule)
            step("arranging")
            chart, hint = _chart(schedule, parsed_args)
            for path in outputs:
                step(f"drawing {path}")
                files.draw(chart, path)
        if hint:
            self.app.complain(hint)
        return 0


def _chart(schedule, parsed):
    """Bars, or the density of more of them than can be read; and a line about that, or none."""
    from nova_twotier.sim.plots import density, recorded
    from nova_twotier.sim.plots import window as windows

    slots = parsed.slots
    if slots and slots[0] < len(schedule.hosts):
        slots = slots[0], min(slots[1], len(schedule.hosts) - 1)
    window = {"begin": parsed.begin, "end": parsed.end, "slots": slots}
    kind, hint = density if parsed.density else recorded, ""
    if not parsed.bars and not parsed.density:
        bars = len(windows.cut(schedule.stays, **window).stays)
        if bars > recorded.READABLE:
            kind = density
            hint = (
                f"{bars:,} bars cannot be read in one chart, so this shows how full each slot "
                f"was; for bars, name a window with --begin, --end and --slots (up to "
                f"{recorded.READABLE:,} bars), or give --bars (up to {recorded.MOST:,})"
            )
    chart = kind.of(
        schedule.stays,
        **window,
        title=parsed.title or schedule.title or "Schedule",
        hosts=schedule.hosts,
        dated=schedule.dated,
    )
    return chart, hint
