"""Compare a manager's polls without predictions, with a process that predicts, and a thread."""

import contextlib
import pathlib
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from nova_twotier.core import policies, prediction
from nova_twotier.core.prediction.questions import Answer, Question, answer
from nova_twotier.manager import predictions, scene
from nova_twotier.manager.daemon import collect_seldom
from nova_twotier.manager.predictions import Predictions

from . import passes, tables
from .stopwatch import Stopwatch

#: Polls of each kind that are measured.
POLLS = 30


class InThread:
    """Answers in the manager's own process."""

    def __init__(self, estimator: str):
        self._estimator = prediction.get(estimator)

    def ask(self, question: Question) -> Answer:
        return answer(self._estimator, question)

    def stop(self) -> None:
        """It cannot be stopped."""

    close = stop


def table(policy: str, waiting: int, hosts: int) -> None:
    """Print a line for each way to predict: medians and 90th percentiles over the polls."""
    collect_seldom()
    print(
        f"\npolls while a prediction is under way: {policy}, {waiting:,} jobs wait, {hosts:,} hosts"
    )
    print("ms; `copy` is within the poll; `thread` is the CPU time of the manager per prediction\n")
    tables.head("predictions", "made", "wall", "wall 90 %", "CPU", "copy", "thread", "takes")
    with tempfile.TemporaryDirectory() as directory:
        site = passes.Site(pathlib.Path(directory), policy, waiting, hosts * passes.SLOTS)
        with contextlib.closing(site):
            site.submit(waiting)
            while site.poll() or len(site.engine._decisions.after.queue) < waiting:
                site.submit(max(0, waiting - len(site.engine._decisions.after.queue)))
            for name, predictor in (
                ("none", None),
                ("in a process", predictions.Predictor),
                ("in a thread", InThread),
            ):
                tables.row(name, *_measured(site, policy, predictor))


def _measured(site: passes.Site, policy: str, predictor) -> list[str]:
    engine = site.engine
    options = engine._options
    # As often as it can be.
    options.prediction_interval = 0.0 if predictor is None else 1e-3
    threads = ThreadPoolExecutor(1)
    making, taking = Stopwatch(), Stopwatch()
    with contextlib.ExitStack() as stack:
        for name, value in (
            ("SOON", 0.0),
            ("SHARE", 0.0),
            ("Predictor", predictor or predictions.Predictor),
        ):
            stack.enter_context(mock.patch.object(predictions, name, value))
        watched = making.timed(Predictions._predict, "prediction")
        stack.enter_context(mock.patch.object(Predictions, "_predict", watched))
        stack.enter_context(mock.patch.object(scene, "take", taking.timed(scene.take, "copy")))
        made = Predictions(
            options, site.store, "default", policies.get(policy), lambda *_, **__: None, threads
        )
        stack.callback(made.close)
        engine._predictions = made
        _until_first(site, making, predictor)
        making.wall.clear()
        making.cpu.clear()
        taking.cpu.clear()
        walls, cpus, count = [], [], _Count(made)
        for each in range(POLLS):
            if each % 10 == 0:
                site.end_one()
            begun, cpu = time.perf_counter(), time.thread_time()
            site.poll()
            walls.append(1000 * (time.perf_counter() - begun))
            cpus.append(1000 * (time.thread_time() - cpu))
            count.note()
    number = max(1, count.predictions)
    spent = (taking.cpu["copy"], making.cpu["prediction"], making.wall["prediction"])
    return [
        str(count.predictions),
        f"{statistics.median(walls):.1f}",
        f"{statistics.quantiles(walls, n=10)[-1]:.1f}",
        f"{statistics.median(cpus):.1f}",
        *(f"{1000 * each / number:.1f}" for each in spent),
    ]


def _until_first(site: passes.Site, making: Stopwatch, predictor) -> None:
    """The first prediction reads the history, and begins the process."""
    site.poll()
    while predictor is not None and not making.wall["prediction"]:
        time.sleep(0.1)


class _Count:
    """Counts the predictions that polls have begun."""

    def __init__(self, made: Predictions):
        self._made, self._last, self.predictions = made, made._future, 0

    def note(self) -> None:
        if self._made._future is not self._last:
            self._last, self.predictions = self._made._future, self.predictions + 1
