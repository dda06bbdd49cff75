"""The runs of an experiment, as the claims of a paper ask about them."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas

#: Whether a load counts.
Loads = Callable[[float], bool]


@dataclass(frozen=True)
class Results:
    """A row a run, as a sweep has it, with three columns more.

    `series` names the curve or the column of the paper, `place` the workload as the paper calls
    it, and `shown` is False for runs that serve a claim only. `load` is what the workload was
    scaled to, and NaN where it was not; or whatever else the experiment goes by.
    """

    runs: pandas.DataFrame

    @property
    def shown(self) -> pandas.DataFrame:
        return self.runs[self.runs["shown"]]

    def means(
        self, metric: str, place: str | None = None, loads: Loads | None = None
    ) -> pandas.DataFrame:
        """The metric's mean over seeds: a column a series, a row a point (place and load).

        :param place: None: all of them.
        :param loads: None: at all of them.
        """
        keys = ["place", "load", "series"]
        means = self.runs.groupby(keys, dropna=False)[metric].mean().unstack("series")
        return means[
            [
                (place is None or at == place) and (loads is None or loads(load))
                for at, load in means.index
            ]
        ]

    def values(self, metric: str, place: str, series: str) -> list[float]:
        """The metric of each seed's run."""
        runs = self.runs
        return runs[(runs["place"] == place) & (runs["series"] == series)][metric].tolist()
