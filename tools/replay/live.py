"""Shows a replay while it runs: a live table on a terminal, lines elsewhere."""

import contextlib
from collections.abc import Iterator

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from nova_twotier.core.actions import Tier
from nova_twotier.db.states import JobState
from nova_twotier.tools.replay.player import Player
from nova_twotier.tools.replay.recorder import Happening, Kind

#: Rows of the live table, and of the list of what happened last.
ROWS = 14
LAST = 6
#: Wall seconds between two lines where there is no terminal.
PLAIN_INTERVAL = 10.0

_VERBS = {
    Kind.START: "starts",
    Kind.SWAP: "swaps",
    Kind.MIGRATE: "migrates",
    Kind.EVICT: "is evicted",
    Kind.RESTORE: "is restored",
    Kind.END: "ends",
}


def describe(happening: Happening, player: Player) -> str:
    """A happening in words, such as `   31 s  job 25 (kth-17931) swaps to fg (3 VMs)`."""
    who = player.roster[happening.job].label
    words = f"{happening.at:5.0f} s  job {who} {_VERBS[happening.kind]}"
    if happening.kind in (Kind.SWAP, Kind.MIGRATE):
        words += f" to {happening.tier}"
    elif happening.kind in (Kind.START, Kind.RESTORE):
        words += f" in {happening.tier}"
    vms = "VM" if happening.vms == 1 else "VMs"
    return f"{words} ({happening.vms} {vms})"


class PlainView:
    """Every transition, and now and then how far it is, as lines."""

    def __init__(self, console: Console):
        self._console = console
        self._shown = 0
        self._next = 0.0

    def __call__(self, player: Player) -> None:
        new = player.recorder.happenings[self._shown :]
        self._shown += len(new)
        for happening in new:
            self.say(describe(happening, player))
        if player.elapsed() >= self._next:
            self._next = player.elapsed() + PLAIN_INTERVAL
            self.say(f"{player.elapsed():5.0f} s  {counts(player)}")

    def say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def counts(player: Player) -> str:
    look = player.poll
    running = [job for job in look.jobs.values() if job.tier]
    tiers = {tier: sum(job.tier == tier for job in running) for tier in Tier}
    return (
        f"{len(look.over)} of {len(player.jobs)} jobs over, {len(look.waiting)} waiting, "
        f"{tiers[Tier.FG]} in fg, {tiers[Tier.BG]} in bg"
    )


class LiveView:
    """Progress bar, the jobs that wait and run, and what happened last."""

    def __init__(self, console: Console, live: Live):
        self._console = console
        self._live = live
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(None),
            MofNCompleteColumn(),
            TextColumn("jobs"),
            expand=True,
            console=console,
        )
        self._task = self._bar.add_task("replay", total=None)

    def __call__(self, player: Player) -> None:
        hours = player.clock.trace(player.now()) / 3600
        self._bar.update(
            self._task,
            total=len(player.jobs),
            completed=len(player.poll.over),
            description=f"{player.elapsed():4.0f} s  trace {hours:.1f} h",
        )
        last = "\n".join(
            describe(happening, player) for happening in player.recorder.happenings[-LAST:]
        )
        self._live.update(
            Group(self._bar, Text(counts(player)), _jobs(player), Text(last, style="dim"))
        )

    def say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _jobs(player: Player) -> Table:
    """Jobs that run, foreground first, then those that wait."""
    shown = Table(box=box.SIMPLE, pad_edge=False)
    for title in ("job", "VMs", "state", "tier", "done", "why it waits"):
        shown.add_column(title, justify="right" if title in ("VMs", "done") else "left")
    present = [job for job in player.poll.jobs.values() if job not in player.poll.over]
    rank = {Tier.FG: 0, Tier.BG: 1}
    present.sort(key=lambda job: (rank.get(job.tier, 2), job.number))
    for job in present[:ROWS]:
        entry = player.roster[job.number]
        share = player.guests.share(entry)
        waits = str(job.reason or "") if job.state == JobState.QUEUED else ""
        shown.add_row(entry.label, str(job.size), job.state, job.tier or "", f"{share:.0%}", waits)
    if len(present) > ROWS:
        shown.add_row(f"and {len(present) - ROWS} more", "", "", "", "", "")
    return shown


@contextlib.contextmanager
def view(console: Console) -> Iterator[PlainView | LiveView]:
    """The view that suits the console."""
    if not console.is_terminal:
        yield PlainView(console)
        return
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        yield LiveView(console, live)
