"""The results of a replay, job by job and in total, as JSON and as tables."""

import json
import pathlib
import statistics
from collections import Counter

from rich import box
from rich.table import Table

from nova_twotier.core.actions import Tier
from nova_twotier.db.states import JobState
from nova_twotier.tools.replay.errors import UsageError
from nova_twotier.tools.replay.player import Player
from nova_twotier.tools.replay.queue import never_finished
from nova_twotier.tools.replay.recorder import Happening, Kind

FILE = "summary.json"
#: Bounded slowdown takes shorter jobs as this long, seconds (JSS 2015, section 4).
SHORTEST = 10.0

#: Totals in the order of the table: key, what it is called, and how it is printed.
TOTALS = (
    ("jobs", "jobs", "d"),
    ("finished", "finished", "d"),
    ("rejected", "rejected", "d"),
    ("response", "average response (trace s)", ",.0f"),
    ("wait", "average waiting (trace s)", ",.0f"),
    ("bounded_slowdown", "average bounded slowdown", ",.1f"),
    ("start_share", "starting a job, share of its stay (median)", ".1%"),
    ("background_starts", "started in the background", "d"),
    ("evictions", "evictions (jobs shelved)", "d"),
    ("unsaved", "work since the last boot when shelved (process s)", ",.0f"),
    ("restores", "restores (jobs unshelved)", "d"),
    ("swaps", "swaps (jobs)", "d"),
    ("migrations", "migrations (jobs)", "d"),
    ("migrated_vms", "migrations (VMs seen)", "d"),
    ("live_migrations", "live migrations completed by Nova", "d"),
    ("wall_seconds", "wall time (s)", ",.0f"),
)


def summarise(player: Player, about: dict) -> dict:
    """The summary of a replay; `about` says which one it was."""
    jobs = [_row(player, entry) for entry in player.roster]
    finished = [job for job in jobs if job["response"] is not None]
    happened = player.recorder.happenings
    kinds = Counter(happening.kind for happening in happened)
    totals = {
        "jobs": len(jobs),
        "finished": len(finished),
        "rejected": len(player.poll.rejected),
        **{
            key: _mean(job[key] for job in finished)
            for key in ("response", "wait", "bounded_slowdown")
        },
        "start_share": _start_share(player),
        "background_starts": sum(_background_start(happening) for happening in happened),
        "evictions": kinds[Kind.EVICT],
        "unsaved": sum(player.guests.unsaved.values()),
        "restores": kinds[Kind.RESTORE],
        "swaps": kinds[Kind.SWAP],
        "migrations": kinds[Kind.MIGRATE],
        "migrated_vms": sum(h.vms for h in happened if h.kind is Kind.MIGRATE),
        "live_migrations": list(player.live_migrations.values()).count("completed"),
        "wall_seconds": round(player.elapsed(), 1),
    }
    invariants = {
        name: {
            "holds": invariant.holds,
            "checks": invariant.checks,
            "longest": invariant.longest,
            "broken": invariant.broken,
        }
        for name, invariant in player.invariants.all.items()
    }
    losses = {
        "lost": sorted(player.invariants.lost),
        "doubled": sorted(player.invariants.doubled),
        "wasted": dict(player.guests.wasted),
        "destroyed": dict(player.guests.destroyed),
    }
    return {**about, "totals": totals, "losses": losses, "invariants": invariants, "jobs": jobs}


def _background_start(happening: Happening) -> bool:
    return happening.kind is Kind.START and happening.tier is Tier.BG


def _start_share(player: Player) -> float | None:
    """How long Nova took to start the jobs, against how long they then stayed."""
    records = player.poll.jobs
    shares = [
        took / (records[number].finished_at - records[number].started_at)
        for number, took in player.queue.start_times().items()
        if number in records and records[number].state == JobState.FINISHED
    ]
    return statistics.median(shares) if shares else None


def _mean(values) -> float | None:
    values = list(values)
    return statistics.fmean(values) if values else None


def _row(player: Player, entry) -> dict:
    """A job; times in trace seconds, from the queue's own records."""
    record = player.poll.jobs[entry.number]
    trace = player.clock.trace
    response = wait = slowdown = None
    if record.finished_at is not None and not never_finished(record):
        response = (record.finished_at - record.submitted_at) * player.clock.speedup
        wait = response - entry.job.runtime
        slowdown = response / max(SHORTEST, entry.job.runtime)
    return {
        "number": entry.number,
        "name": entry.job.name,
        "size": entry.size,
        "runtime": entry.job.runtime,
        "state": record.state,
        "reason": str(record.reason or ""),
        "submit": trace(record.submitted_at),
        "start": None if record.started_at is None else trace(record.started_at),
        "finish": None if record.finished_at is None else trace(record.finished_at),
        "response": response,
        "wait": wait,
        "bounded_slowdown": slowdown,
        "history": [
            {
                "at": round(happening.at * player.clock.speedup),
                "kind": happening.kind,
                "tier": happening.tier,
                "vms": happening.vms,
            }
            for happening in player.recorder.happenings
            if happening.job == entry.number
        ],
    }


def save(summary: dict, directory: pathlib.Path) -> None:
    (directory / FILE).write_text(json.dumps(summary, indent=1) + "\n")


def load(directory: str | pathlib.Path) -> dict:
    """:raises UsageError: if there is no summary of a replay."""
    path = pathlib.Path(directory) / FILE
    try:
        summary = json.loads(path.read_text())
        summary["totals"], summary["name"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UsageError(
            f"{path} is not the summary of a replay; name a directory that "
            "`twotier-replay run --out` wrote"
        ) from error
    return summary


def table(summaries: list[dict]) -> Table:
    """The totals of one replay, or of several side by side."""
    shown = Table(box=box.SIMPLE_HEAVY)
    shown.add_column("")
    for summary in summaries:
        shown.add_column(summary["name"], justify="right")
    for key, title, form in TOTALS:
        values = [summary["totals"].get(key) for summary in summaries]
        shown.add_row(title, *("-" if value is None else format(value, form) for value in values))
    return shown


def verdicts(summary: dict) -> list[str]:
    """A line for each invariant: whether it held, or that nothing was there to check it on."""
    lines = []
    for name, invariant in summary["invariants"].items():
        if invariant["holds"]:
            longest = invariant["longest"]
            seen = f" (seen in up to {longest} consecutive samples)" if longest > 1 else ""
            lines.append(f"✓ {name}{seen}")
            continue
        if not invariant["broken"]:
            lines.append(f"✗ {name}: never checked")
            continue
        first, *others = invariant["broken"]
        more = f" (and {len(others)} more in {FILE})" if others else ""
        lines.append(f"✗ {name}: {first}{more}")
    return lines
