"""Jobs as tables or JSON."""

import json
from datetime import UTC, datetime

from prettytable import PrettyTable

FORMATS = ("table", "json")


def job_row(job) -> dict:
    """A job in a line."""
    return {
        "number": job.number,
        "name": job.name,
        "size": job.size,
        "state": job.state,
        "tier": job.tier,
        "submitted": _time(job.submitted_at),
        "reason": f"asked to {job.wish}" if job.wish and not job.finished_at else job.reason,
    }


def job_details(job, events) -> dict:
    """A job in full, with what happened to it."""
    return {
        **job_row(job),
        "uuid": job.uuid,
        "cpu": job.cpu,
        "estimate": job.estimate,
        "saved": job.saved,
        "start": job.how,
        "started": _time(job.started_at),
        "finished": _time(job.finished_at),
        "evictions": job.evictions,
        "restores": job.restores,
        "swaps": job.swaps,
        "migrations": job.migrations,
        "events": [f"{_time(event.at)} {event.kind} {event.detail}".strip() for event in events],
    }


def one(row: dict, style: str) -> str:
    """One thing, a field a line."""
    if style == "json":
        return json.dumps(row, indent=2)
    table = PrettyTable(["field", "value"], align="l")
    for field, value in row.items():
        table.add_row([field, "\n".join(value) if field == "events" else _cell(value)])
    return table.get_string()


def many(rows: list[dict], style: str) -> str:
    """Several things, one a line."""
    if style == "json":
        return json.dumps(rows, indent=2)
    if not rows:
        return "no jobs"
    table = PrettyTable(list(rows[0]), align="l")
    table.add_rows([[_cell(value) for value in row.values()] for row in rows])
    return table.get_string()


def _cell(value) -> str:
    return "" if value is None else str(value)


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
