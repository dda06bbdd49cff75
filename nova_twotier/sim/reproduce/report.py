"""The report of an experiment: one HTML file that needs nothing else."""

import base64
import dataclasses
import datetime
import html
import os
import platform
from collections.abc import Iterable, Iterator
from importlib import metadata

from nova_twotier.sim import calibration
from nova_twotier.sim.plots import words
from nova_twotier.sim.reproduce import pictures, report_tables
from nova_twotier.sim.reproduce.experiment import Plot
from nova_twotier.sim.reproduce.numbers import grouped
from nova_twotier.sim.reproduce.runner import Outcome
from nova_twotier.sim.reproduce.style import STYLE

LIBRARIES = ("numpy", "pandas", "scipy")


def page(outcome: Outcome, command: str) -> str:
    """The whole file.

    :param command: that made it.
    """
    experiment = outcome.experiment
    title = f"{experiment.source}: {experiment.about}"
    body = [
        f"<header><p class='paper'>{experiment.name}</p><h1>{html.escape(title)}</h1></header>",
        _about(outcome, command),
        *report_tables.numbers(outcome),
        *report_tables.claims(outcome.findings, experiment),
        *report_tables.tried(outcome),
        *report_tables.plain(experiment.tables(outcome.results, outcome.settings)),
        *_plots(outcome),
        *report_tables.means(outcome.results, _to_draw(outcome), experiment.axis),
    ]
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body>{''.join(body)}</body></html>\n"
    )


def _about(outcome: Outcome, command: str) -> str:
    """What was run, on what, and what to know about it."""
    facts = "".join(
        f"<dt>{name}</dt><dd>{html.escape(value)}</dd>" for name, value in _facts(outcome)
    )
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in _notes(outcome))
    return (
        f"<section><h2>What was run</h2><p><code>{html.escape(command)}</code></p>"
        f"<dl>{facts}</dl><ul class='notes'>{notes}</ul></section>"
    )


def _facts(outcome: Outcome) -> Iterator[tuple[str, str]]:
    experiment, settings, runs = outcome.experiment, outcome.settings, outcome.results.runs
    if len(runs):
        seeds = ", ".join(map(str, range(settings.seeds)))
        yield (
            "Simulations",
            f"{len(outcome.simulated)}, of which {outcome.done} in this call; means over the seeds "
            f"{seeds}",
        )
        jobs = (runs["jobs"] + runs["rejected"]).groupby(runs["place"], sort=False).max()
        yield "Jobs", ", ".join(f"{count:,} of {place}" for place, count in jobs.items())
    if _to_draw(outcome):
        points = sorted(outcome.results.shown["load"].unique())
        name = experiment.axis[0].upper() + experiment.axis[1:]
        yield name, ", ".join(f"{point:g}" for point in points)
    if experiment.progress:
        model = dataclasses.asdict(calibration.get(experiment.progress))
        reading = ", ".join(f"{name} {_plain(value)}" for name, value in model.items())
        yield "Progress model", f"{experiment.progress}: {reading}"
    now = datetime.datetime.now().astimezone()
    yield "Time", f"{_duration(outcome.seconds)} on {os.cpu_count()} cores, {now:%Y-%m-%d %H:%M %Z}"
    libraries = ", ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)
    python = platform.python_version()
    yield (
        "Versions",
        f"nova-twotier {metadata.version('nova-twotier')}, Python {python}, {libraries}",
    )


def _notes(outcome: Outcome) -> Iterator[str]:
    yield from outcome.experiment.notes
    if _is_cut(outcome):
        yield (
            f"Only the first {outcome.settings.head} jobs of each workload were taken: a quick "
            f"look, not to be compared with the {outcome.experiment.against}."
        )
    runs = outcome.results.runs
    if len(runs) and runs["rejected"].any():
        # On a network, they may lack bandwidth or, without a queue, have come at a bad time.
        linked = "topology" in runs and runs["topology"].notna().any()
        why = "were rejected" if linked else "need more slots than there are"
        yield f"Up to {runs['rejected'].max()} jobs a run {why}."


def _is_cut(outcome: Outcome) -> bool:
    """Whether the user wanted the first jobs only, of workloads from which jobs can be left out."""
    head, runs = outcome.settings.head, outcome.results.runs
    if head is None:
        return False
    if len(runs):
        # Some experiments take no more than the first jobs anyway.
        return "head" in runs and bool((runs["head"] == head).any())
    # Without runs, numbers are of the workloads themselves.
    return bool(outcome.numbers)


def _plots(outcome: Outcome) -> Iterable[str]:
    wide = [
        _figure(pictures.bars(numbers, logarithmic=not outcome.experiment.points), group, "wide")
        for group, numbers in grouped(outcome.numbers).items()
    ]
    small = [
        _figure(
            pictures.against_load(outcome.results, plot, outcome.experiment.axis),
            f"{words.label(plot.metric)}, {plot.place}",
        )
        for plot in _to_draw(outcome)
    ]
    small += [_figure(pictures.curves(chart), chart.title) for chart in outcome.experiment.charts()]
    if not wide + small:
        return
    yield f"<section><h2>Plots</h2><div class='plots'>{''.join(wide + small)}</div></section>"


def _to_draw(outcome: Outcome) -> list[Plot]:
    """The plots for which there are runs: only a part may have been run."""
    if not outcome.experiment.plots:
        return []
    places = set(outcome.results.shown["place"])
    return [plot for plot in outcome.experiment.plots if plot.place in places]


def _figure(picture: bytes, words: str, kind: str = "") -> str:
    data = base64.b64encode(picture).decode()
    text = html.escape(words)
    return (
        f"<figure class='{kind}'><img alt='{text}' src='data:image/png;base64,{data}'>"
        f"<figcaption>{text}</figcaption></figure>"
    )


def _plain(value) -> str:
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
