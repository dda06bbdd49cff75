"""Runs an experiment, or reuses the runs of an earlier call, and evaluates it."""

import pathlib
import time
from dataclasses import dataclass, field, replace

import pandas

from nova_twotier.sim import sweep, tables
from nova_twotier.sim.reproduce.claims import Claim, Finding
from nova_twotier.sim.reproduce.experiment import Experiment, Run, Settings
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.reproduce.results import Results


class UnknownPart(ValueError):
    """A part that the experiment does not have; the message says which it has."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of an experiment.

    :param done: simulations of this call; the others were there.
    :param tried: what the claims give under each trial, by its name; empty if none was made.
    :param seconds: that this call took.
    :param simulated: the keys of all its simulations, with those of the trials.
    """

    experiment: Experiment
    settings: Settings
    results: Results
    numbers: list[Number]
    findings: list[tuple[Claim, Finding]]
    done: int
    seconds: float
    tried: dict[str, list[Finding]] = field(default_factory=dict)
    simulated: frozenset[str] = frozenset()


def run_with_trials(
    experiment: Experiment, settings: Settings, directory: pathlib.Path, **options
) -> Outcome:
    """As `run`; the trials are made if a claim does not hold."""
    outcome = run(experiment, settings, directory, **options)
    if all(finding.holds is not False for _claim, finding in outcome.findings):
        return outcome
    tried = {}
    for trial in experiment.trials:
        again = run(experiment.under(trial), settings, directory, **options)
        tried[trial.name] = [finding for _claim, finding in again.findings]
        outcome = replace(
            outcome,
            done=outcome.done + again.done,
            seconds=outcome.seconds + again.seconds,
            simulated=outcome.simulated | again.simulated,
        )
    return replace(outcome, tried=tried)


def run(experiment: Experiment, settings: Settings, directory: pathlib.Path, **options) -> Outcome:
    """:param options: as `sweep.run` takes them.

    :raises archive.MissingTraces, UnknownPart: before anything is run.
    """
    if wrong := [part for part in settings.only if part not in experiment.parts]:
        there = ", ".join(experiment.parts) or "none"
        raise UnknownPart(f"{experiment.name} has no part {wrong[0]!r}; there are: {there}")
    begin = time.monotonic()
    runs = experiment.runs(settings)
    # A run may serve two series.
    done = 0
    if runs:
        done = sweep.resume([each.point for each in runs], directory, **options)
        # With the runs of the other experiments and trials that share the directory.
        tables.write(sweep.collect(directory), directory / sweep.TABLE)
    results = Results(pandas.DataFrame([_row(each, directory) for each in runs]))
    return Outcome(
        experiment,
        settings,
        results,
        experiment.numbers(results, settings),
        [(claim, claim.measure(results)) for claim in experiment.claims],
        done,
        time.monotonic() - begin,
        simulated=frozenset(each.point.key() for each in runs),
    )


def _row(run: Run, directory: pathlib.Path) -> dict:
    """A finished run: the directory may hold others, of other settings."""
    at = run.point.load if run.at is None else run.at
    about = {"series": run.series, "place": run.place, "shown": run.shown, "load": at}
    return sweep.finished(run.point, directory) | about
