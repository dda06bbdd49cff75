"""How well starts and ends are predicted on traces, beside what batch systems show."""

import math
import statistics
from collections.abc import Iterator

from nova_twotier.core.prediction.requested import Requested
from nova_twotier.core.prediction.sdpn import Sdpn
from nova_twotier.sim import forecasts, run_time_coverage
from nova_twotier.sim.forecasts import ESTIMATORS, ForecastPoint
from nova_twotier.sim.planned import Planned
from nova_twotier.sim.reproduce import on_traces
from nova_twotier.sim.reproduce.claims import UNTESTED, Claim, Finding, Measure
from nova_twotier.sim.reproduce.experiment import Experiment, Run, Settings, Table
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.scenario import Scenario

#: Those that take longest to run first.
PLACES = ("SDSC", "KTH")
POLICIES = ("amcbf", "easy")
#: How many times our error the naive forecasts' are to be, at least.
TWOFOLD = 2.0
#: An 80 % interval may hold for so many per cent of the jobs.
COVERAGE = (70.0, 90.0)
OURS = Sdpn.name
#: Both trust the times that jobs asked for. The first is what batch systems show, the second knows
#: the policy, so it is harder to beat under two tiers.
NAIVE = (Planned.name, Requested.name)

#: The metrics, as a table is headed, and what one unit of it is.
_METRICS = {
    "median absolute error of the start (min)": (forecasts.START_ERROR, 60),
    "the same, each corrected by its errors so far (min)": (forecasts.CORRECTED_ERROR, 60),
    "mean absolute error of the start (min)": (forecasts.MEAN_START_ERROR, 60),
    "starts within the 80 % interval (%)": (forecasts.START_COVERAGE, 1),
    "median width of that interval (min)": (forecasts.START_WIDTH, 60),
    "median absolute error of the end (min)": (forecasts.FINISH_ERROR, 60),
    "ends within the 80 % interval (%)": (forecasts.FINISH_COVERAGE, 1),
    "CPU time of one prediction (ms)": (forecasts.COST, 1),
}


def _runs(settings: Settings) -> list[Run]:
    scenarios = {policy: Scenario(policy) for policy in POLICIES}
    return on_traces.runs(settings, _places(settings), scenarios, ForecastPoint)


def _places(settings: Settings) -> tuple[str, ...]:
    return tuple(place for place in PLACES if place in (settings.only or PLACES))


def _values(results: Results, metric: str, place: str, policy: str, estimator: str) -> list[float]:
    """Of each seed, without those that predicted nothing."""
    column = f"{metric}:{estimator}"
    if column not in results.runs:
        return []
    found = results.values(column, place, policy)
    return [value for value in found if value is not None and not math.isnan(value)]


def _numbers(results: Results, settings: Settings) -> list[Number]:
    numbers = []
    for group, (metric, unit) in _METRICS.items():
        for place in _places(settings):
            for policy in POLICIES:
                for estimator in ESTIMATORS:
                    values = _values(results, metric, place, policy, estimator) or [math.nan]
                    ours = [value / unit for value in values]
                    row = f"{place}, {policy}"
                    numbers.append(Number.of(group, row, estimator, math.nan, ours))
    return numbers


def _tables(results: Results, _settings: Settings) -> Iterator[Table]:
    """How often run times lie between the quantiles of similar past jobs."""
    columns = (run_time_coverage.BELOW, run_time_coverage.WITHIN, run_time_coverage.ABOVE)
    # The same jobs arrive under every policy; the order of their ends differs a little.
    here = results.runs[results.runs["series"] == "easy"].groupby("place", sort=False)
    rows = {str(place): list(row) for place, row in here[list(columns)].mean().iterrows()}
    yield Table(
        "Run times, and the 10 % and 90 % quantiles of those of the most similar past jobs",
        ("below (%)", "between (%)", "above (%)"),
        rows,
    )


def _times_better(place: str, policy: str, naive: str) -> Measure:
    """The median error of a naive forecast, as a multiple of ours."""

    def measure(results: Results) -> Finding:
        metric = forecasts.START_ERROR
        theirs = _values(results, metric, place, policy, naive)
        ours = _values(results, metric, place, policy, OURS)
        if not theirs or not ours or not statistics.fmean(ours):
            return UNTESTED
        times = statistics.fmean(theirs) / statistics.fmean(ours)
        return Finding(times, times >= TWOFOLD)

    return measure


def _covers(metric: str, place: str, policy: str) -> Measure:
    def measure(results: Results) -> Finding:
        values = _values(results, metric, place, policy, OURS)
        if not values:
            return UNTESTED
        low, high = COVERAGE
        return Finding(statistics.fmean(values), all(low <= value <= high for value in values))

    return measure


_PAIRS = [(place, policy) for place in PLACES for policy in POLICIES]

TRACES = Experiment(
    name="prediction",
    source="SDPN on traces",
    about="predictions at submission of when jobs start and end",
    runs=_runs,
    numbers=_numbers,
    tables=_tables,
    claims=(
        *(
            Claim(
                f"{place}, {policy}: the median error of {OURS} is half of that of {naive}",
                "our own aim",
                TWOFOLD,
                f"{naive}'s is at least {TWOFOLD:g} times {OURS}'s",
                _times_better(place, policy, naive),
                unit="times",
            )
            for naive in NAIVE
            for place, policy in _PAIRS
        ),
        *(
            Claim(
                f"{place}, {policy}: the 80 % interval of {what} holds",
                "our own aim",
                80.0,
                f"for {COVERAGE[0]:g} to {COVERAGE[1]:g} % of the jobs, with every seed",
                _covers(metric, place, policy),
                unit="%",
            )
            for place, policy in _PAIRS
            for what, metric in (
                ("starts", forecasts.START_COVERAGE),
                ("ends", forecasts.FINISH_COVERAGE),
            )
        ),
    ),
    notes=(
        "There is no paper with these numbers: CISNE was not run on traces.",
        "A job is predicted once, when it has arrived and the policy has not started it; of one "
        "that starts at once there is nothing to predict. No estimator knows of later arrivals.",
        f"{Planned.name} is what batch systems show (squeue --start): each waiting job has a "
        "reservation in the foreground, by arrival, as if all jobs took the time that they asked "
        f"for. {Requested.name} trusts these times as well, but runs the real policy forward.",
        "Intervals, and corrections, follow from the estimator's own errors of the last 200 jobs "
        "that had started, or ended, when the prediction was made.",
        "Under EASY nobody shares a slot: sdpn and hanzich are the same there.",
    ),
    progress="tpds",
    parts=PLACES,
    against="aim",
)
