"""A table or a figure of a paper: which runs it needs, and what the paper says of them."""

import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nova_twotier.sim import sweep
from nova_twotier.sim.plots.load import LOAD, Chart
from nova_twotier.sim.reproduce import archive
from nova_twotier.sim.reproduce.claims import Claim
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.scenario import Scenario

#: 0.50, 0.55 .. 0.95: the papers' text has no list of theirs.
LOADS = tuple(round(0.05 * step, 2) for step in range(10, 20))


@dataclass(frozen=True)
class Settings:
    """What a user may change.

    :param traces: the directory of the archive's traces.
    :param seeds: runs of whatever draws at random, with the seeds 0, 1...
    :param model_jobs: jobs of a model's workload; None: the default of the model.
    :param loads: for the experiments that vary it.
    :param head: only the first jobs of each workload; None: all.
    :param only: parts of an experiment that has `parts`; empty: all.
    """

    traces: pathlib.Path = archive.DIRECTORY
    seeds: int = 5
    model_jobs: int | None = None
    loads: tuple[float, ...] = LOADS
    head: int | None = None
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """One simulation: the curve or column and the workload it is for, as the paper calls them.

    :param shown: whether it appears in plots, or serves a claim only.
    :param at: where on the horizontal axis; None: at its load.
    """

    series: str
    place: str
    point: sweep.Point
    shown: bool = True
    at: float | None = None


@dataclass(frozen=True)
class Trial:
    """One change to all runs, made to see whether more claims hold then.

    :param name: as the tables call it.
    :param settings, scenario: what the change makes of those of the experiment.
    """

    name: str
    settings: Callable[[Settings], Settings] = lambda settings: settings
    scenario: Callable[[Scenario], Scenario] = lambda scenario: scenario

    def of(self, run: Run) -> Run:
        """A run of the experiment with the change."""
        changed = replace(run.point, scenario=self.scenario(run.point.scenario))
        return replace(run, point=changed)


@dataclass(frozen=True)
class Plot:
    """One picture: a metric against the load, a curve a series, of one workload."""

    place: str
    metric: str
    logarithmic: bool


@dataclass(frozen=True)
class Table:
    """Numbers of ours that nothing is printed beside, or words: by row, as many as columns."""

    caption: str
    columns: tuple[str, ...]
    rows: Mapping[str, Sequence[float | str]]


@dataclass(frozen=True)
class Experiment:
    """A table or a figure.

    :param source: the paper's table, figure or section.
    :param about: one line.
    :param runs: its simulations for the settings, those that take longest first.
    :param numbers: the printed numbers beside ours.
    :param notes: what a reader has to know to compare.
    :param points: whether a deviation is in percentage points, not in per cent of what is printed.
    :param progress: the name of the progress model; None where none is used.
    :param axis: what the plots, and the claims' points, go by.
    :param charts: curves that need no runs.
    :param tables: further numbers of ours.
    :param parts: what `Settings.only` may name; empty if it is run as a whole only.
    :param against: what ours is compared with.
    :param trials: what is tried where claims do not hold.
    """

    name: str
    source: str
    about: str
    runs: Callable[[Settings], list[Run]] = lambda settings: []
    numbers: Callable[[Results, Settings], list[Number]] = lambda results, settings: []
    claims: tuple[Claim, ...] = ()
    plots: tuple[Plot, ...] = ()
    notes: tuple[str, ...] = ()
    points: bool = False
    progress: str | None = None
    axis: str = LOAD
    charts: Callable[[], tuple[Chart, ...]] = tuple
    tables: Callable[[Results, Settings], Iterable[Table]] = lambda results, settings: ()
    parts: tuple[str, ...] = ()
    against: str = "paper"
    trials: tuple[Trial, ...] = ()

    @property
    def measured(self) -> str:
        """What its numbers are called: "ours" is for those that stand beside a paper's."""
        return "ours" if self.against == "paper" else "measured"

    def under(self, trial: Trial) -> "Experiment":
        """The same experiment with a change to all of its runs."""

        def runs(settings: Settings) -> list[Run]:
            return [trial.of(run) for run in self.runs(trial.settings(settings))]

        return replace(self, runs=runs, trials=())
