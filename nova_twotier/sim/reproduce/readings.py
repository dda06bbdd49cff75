"""Readings of the papers where these leave something open, each measured beside our own."""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from nova_twotier.sim import sweep
from nova_twotier.sim.reproduce import archive, models, published, trials
from nova_twotier.sim.reproduce.experiment import Experiment, Run, Settings, Table, Trial
from nova_twotier.sim.reproduce.measures import RESPONSES
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.workloads.utilisation import Utilisation

#: Our own.
OURS = Trial("the default")

JSS: tuple[Trial, ...] = (
    OURS,
    trials.OWN_WORK,
    trials.reading(draw="job"),
    trials.reading(draw="process"),
    trials.SLICES,
    trials.reading(processes="mean"),
    trials.NO_FLOOR,
)
TPDS: tuple[Trial, ...] = (
    OURS,
    trials.WAITING_HEAD,
    trials.OWN_WORK,
    trials.reading(draw="process"),
    trials.SLICES,
    trials.NO_FLOOR,
)

WAIT, PRINTED_WAIT = "average_wait_seconds", "average wait (min)"
_POLICIES = {
    "CCFCFS": Scenario("ccfcfs", progress="jss"),
    "ACFCFS": Scenario("acfcfs", progress="jss"),
    "ACFCFS100": Scenario("acfcfs", progress="jss", utilisation=Utilisation(1.0, 1.0)),
}
#: Those of which the deviation of a reading is the mean.
_FITTED = ("CCFCFS", "ACFCFS")

#: What is compared, as the columns call it.
_METRICS = {
    "response time": RESPONSES[0],
    "bounded slowdown": RESPONSES[1],
    "migrations": "migrations_per_job",
    "restores": "evictions_per_job",
}
_MODELS = {"FWorkload": "feitelson:{}", "JWorkload": "jann:{}"}
_JOBS = 10_000


def _series(trial: Trial, scenarios: Mapping[str, Scenario]) -> dict[str, Scenario]:
    return {f"{name}, {trial.name}": trial.scenario(each) for name, each in scenarios.items()}


def _jss_runs(settings: Settings) -> list[Run]:
    paths = archive.find(settings.traces)
    scenarios = {
        series: scenario for trial in JSS for series, scenario in _series(trial, _POLICIES).items()
    }
    return [
        Run(
            series,
            trace,
            sweep.Point(
                str(paths[trace].resolve()),
                replace(scenario, seed=seed),
                nodes=nodes,
                head=settings.head,
            ),
        )
        for trace, (_file, nodes) in archive.TRACES.items()
        if trace in (settings.only or archive.TRACES)
        for seed in range(settings.seeds)
        for series, scenario in scenarios.items()
    ]


def _jss_tables(results: Results, settings: Settings) -> Iterator[Table]:
    printed = published.TABLE2[PRINTED_WAIT]
    means = results.means(WAIT).droplevel("load") / 60
    traces = [each for each in reversed(archive.TRACES) if each in (settings.only or printed)]
    rows: dict[str, list[float | str]] = {}
    for trial in JSS:
        ratios = {
            (trace, policy): means.loc[trace, f"{policy}, {trial.name}"]
            / printed[trace][published.TABLE2_COLUMNS.index(policy)]
            for trace, policy in itertools.product(traces, _POLICIES)
        }
        fitted = [ratio for (_, name), ratio in ratios.items() if name in _FITTED]
        rows[trial.name] = [
            " / ".join(f"{100 * (ratios[trace, policy] - 1):+.0f}" for policy in _POLICIES)
            for trace in traces
        ]
        rows[trial.name].append(_spread(fitted))
    yield Table(
        f"{' / '.join(_POLICIES)}, and the root mean square of the logarithms of the ratios of "
        f"{' and '.join(_FITTED)}, times 100",
        (*traces, "rms"),
        rows,
    )


def _spread(ratios: list[float]) -> str:
    """The root mean square of their logarithms, times 100; `-` if one is 0: nothing waits."""
    if min(ratios) <= 0:
        return "-"
    logarithms = [math.log(ratio) for ratio in ratios]
    return f"{100 * math.hypot(*logarithms) / math.sqrt(len(logarithms)):.0f}"


def _tpds_runs(settings: Settings) -> list[Run]:
    jobs = settings.model_jobs or _JOBS
    sources = {place: source.format(jobs) for place, source in _MODELS.items()}
    scenarios: dict[str, Scenario] = {}
    for trial in TPDS:
        scenarios |= _series(trial, {"AMCBF": Scenario("amcbf")})
    return models.runs(settings, sources, scenarios)


def _tpds_tables(results: Results, _settings: Settings) -> Iterator[Table]:
    for place in _MODELS:
        rows = {}
        for trial in TPDS[1:]:
            ratios = []
            for metric in _METRICS.values():
                means = results.means(metric, place)
                ratio = means[f"AMCBF, {trial.name}"] / means[f"AMCBF, {OURS.name}"]
                ratios.append(f"{100 * (ratio.mean() - 1):+.1f}")
            rows[trial.name] = ratios
        yield Table(place, tuple(_METRICS), rows)


EXPERIMENTS = (
    Experiment(
        name="jss2015-readings",
        source="JSS 2015, Table 2",
        about="average waits in other readings of how jobs advance, in per cent above the printed",
        runs=_jss_runs,
        tables=_jss_tables,
        parts=tuple(archive.TRACES),
        progress="jss",
    ),
    Experiment(
        name="tpds2013-readings",
        source="TPDS 2013, sections 4 and 5.1",
        about="AMCBF in other readings, in per cent above the default, averaged over the loads",
        runs=_tpds_runs,
        tables=_tpds_tables,
        notes=(
            f"Jobs of a workload: {_JOBS:,} unless --model-jobs says otherwise.",
            models.SURROGATE,
            models.REFIT,
        ),
        progress="tpds",
    ),
)
