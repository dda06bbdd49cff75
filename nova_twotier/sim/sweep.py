"""Many runs on all cores or on a Dask cluster; finished runs are kept and not repeated."""

import contextlib
import dataclasses
import functools
import hashlib
import json
import pathlib
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker

import joblib
import pandas
import tqdm

import nova_twotier
from nova_twotier.sim import metrics, simulation, tables, whole_file
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.workloads import catalogue

#: Where a result directory keeps one file for each run, and the table of all of them.
RUNS = "runs"
TABLE = "sweep.csv"
#: The field of a run's file that says what it was computed with; no column of the table.
INPUTS = "inputs"
#: Seconds to wait for the scheduler of a Dask cluster.
DASK_TIMEOUT = 10


class NoDask(ValueError):
    """The package of Dask clusters is not installed; the message says how to install it."""


class NoResults(ValueError):
    """A directory without a finished run."""


@dataclass(frozen=True)
class Point:
    """One run of a sweep: a workload and a scenario. The scenario's seed also draws the workload.

    `load` is what the workload is scaled to; None leaves it as it is.
    """

    source: str
    scenario: Scenario
    load: float | None = None
    nodes: int | None = None
    head: int | None = None

    def key(self) -> str:
        """The name under which its row is cached; other parameters, input files or code change it.

        And with the class: a subclass has other metrics of the same run.
        """
        value = dataclasses.asdict(self) | self.inputs()
        value["kind"] = type(self).__name__
        text = json.dumps(value, sort_keys=True, default=str)
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()

    def inputs(self) -> dict:
        """What its row depends on besides its parameters: digests of files and of the program."""
        return {"files": self.files(), "program": _program()}

    def files(self) -> list[str | None]:
        """Digests of the files that the run reads: the trace, and a calibration."""
        return [_digest(_parts(self.source)[1]), _digest(self.scenario.progress)]

    def row(self) -> dict:
        """Run it; the summary with the columns that tell it from others."""
        result = simulation.simulate(workload_of(self), self.scenario)
        return metrics.summarise(result) | self.parameters()

    def parameters(self) -> dict:
        """The flat columns that tell this run from others."""
        scenario = dataclasses.asdict(self.scenario)
        cpu = scenario.pop("utilisation")
        scenario["reading"] = json.dumps(scenario["reading"], sort_keys=True)
        # Without a load of the point's own, the summary's is the trace's.
        load = {} if self.load is None else {"load": self.load}
        return {
            **load,
            "source": self.source,
            "head": self.head,
            **{f"cpu_{name}": value for name, value in cpu.items()},
            **scenario,
        }


def grid(
    sources: Iterable[str],
    policies: Sequence[str],
    loads: Sequence[float | None],
    seeds: Sequence[int],
    scenario: Scenario,
    *,
    nodes: int | None = None,
    head: int | None = None,
) -> list[Point]:
    """Every combination; runs on the same workload are neighbours, so that it is loaded once."""
    return [
        Point(
            source=_absolute(source),
            scenario=dataclasses.replace(scenario, policy=policy, seed=seed),
            load=load,
            nodes=nodes,
            head=head,
        )
        for source in sources
        for seed in seeds
        for load in loads
        for policy in policies
    ]


def check(points: Iterable[Point], say: Callable[[str], None]) -> None:
    """Load the workload of each source once, so that a mistake is found before the first run.

    :param say: is told what a user may not expect of them.
    :raises ValueError: as the catalogue of workloads, `Workload.scaled` and `Scenario` do.
    """
    sources: dict[str, list[Point]] = {}
    for point in points:
        sources.setdefault(point.source, []).append(point)
    for of in sources.values():
        workload = _workload_of(of[0])
        for remark in workload.remarks:
            say(remark)
        for scenario in {point.scenario.policy: point.scenario for point in of}.values():
            scenario.check(workload)
            scenario.check_jobs(workload)
        if loads := [point.load for point in of if point.load is not None]:
            # The arrivals of the others are earlier.
            workload.scaled(min(loads))


def run(
    points: Sequence[Point], *, jobs: int = -1, dask: str | None = None, progress: bool = True
) -> Iterator[tuple[int, dict]]:
    """The index and the row of each point as it finishes, in any order.

    :param jobs: processes at once; -1 is one a core. Not used with `dask`.
    :param dask: address of a Dask scheduler, such as tcp://10.0.0.1:8786; its workers read traces
        by the same path.
    :param progress: draw a bar on stderr, if that is a terminal.
    :raises NoDask: if `dask` is given and the package is not installed.
    """
    with _backend(dask), contextlib.ExitStack() as stack:
        # One run a task: a batch would lose its finished runs with the one that is killed.
        parallel = joblib.Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")
        tasks = (joblib.delayed(_run_one)(indexed) for indexed in enumerate(points))
        with _without_interrupts():
            finished = stack.enter_context(_ended(parallel(tasks)))
        shown = stack.enter_context(
            tqdm.tqdm(
                total=len(points), unit="run", file=sys.stderr, disable=None if progress else True
            )
        )
        # Not `yield from`: a caller that stops early would close joblib's generator, which warns.
        for result in finished:
            shown.update()
            yield result


def resume(points: Sequence[Point], directory: str | pathlib.Path, **options) -> int:
    """Run the points missing from `directory`; returns the number of runs.

    The table of the directory is that of these points: others may be of other settings.

    :param options: as `run` takes them.
    """
    runs = pathlib.Path(directory) / RUNS
    runs.mkdir(parents=True, exist_ok=True)
    left = {}
    for point in points:
        path = _path(point, directory)
        if path.exists():
            path.touch()  # `collect` goes by what was asked for last
        else:
            left[path] = point
    paths = list(left)
    for index, row in run(list(left.values()), **options):
        with whole_file.replacing(paths[index]) as part:
            part.write_text(json.dumps(row | {INPUTS: _inputs(left[paths[index]])}))
    # A point that is given twice is one run.
    rows = {point.key(): finished(point, directory) for point in points}
    tables.write(_table(rows.values()), pathlib.Path(directory) / TABLE)
    return len(left)


def finished(point: Point, directory: str | pathlib.Path) -> dict:
    """The result row of a point that has been run.

    :raises NoResults: if its file is damaged.
    :raises OSError: if there is none.
    """
    return _read(_path(point, directory))[0]


def collect(
    directory: str | pathlib.Path, say: Callable[[str], None] | None = None
) -> pandas.DataFrame:
    """The table of the runs that a directory holds, without those that are out of date.

    Of the runs of a source and a progress model, only those of the program and the files count
    with which a sweep was asked for last.

    :param say: is told how many are out of date, if any are.
    :raises NoResults: if it holds none, or one that is damaged.
    """
    # Without what a sweep that was killed has written in part.
    paths = (pathlib.Path(directory) / RUNS).glob("[!.]*.json")
    found = [_read(path) for path in sorted(paths, key=lambda path: path.stat().st_mtime_ns)]
    if not found:
        raise NoResults(f"{directory}: has no finished runs")
    newest = {_of(*each): each[1] for each in found}
    rows = [row for row, inputs in found if inputs == newest[_of(row, inputs)]]
    if say and len(rows) < len(found):
        say(
            f"{directory}: {len(found) - len(rows)} of {len(found)} runs are left out: they are "
            "of an older program or of other contents of their files"
        )
    return _table(rows)


def workload_of(point: Point):
    """The workload of a point; the last ones stay in memory for the next points.

    :raises InvalidScenario: as `Scenario.check` does.
    """
    workload = _workload_of(point)
    point.scenario.check(workload)
    return workload if point.load is None else workload.scaled(point.load)


def _workload_of(point: Point):
    """The workload before it is scaled."""
    # A trace is the same with every seed: it is read once.
    seed = 0 if _is_file(point.source) else point.scenario.seed
    return _workload(point.source, point.nodes, point.head, seed)


@functools.lru_cache(maxsize=2)
def _workload(source: str, nodes: int | None, head: int | None, seed: int):
    workload = catalogue.load(source, nodes=nodes, seed=seed)
    return workload if head is None else workload.head(head)


def _path(point: Point, directory: str | pathlib.Path) -> pathlib.Path:
    return pathlib.Path(directory) / RUNS / f"{point.key()}.json"


def _read(path: pathlib.Path) -> tuple[dict, dict | None]:
    """The row of a run and its inputs; None in a file of a release that did not keep them."""
    try:
        row = json.loads(path.read_text())
    except ValueError as error:
        raise NoResults(f"{path}: is damaged; remove it ({error})") from None
    return row, row.pop(INPUTS, None)


def _inputs(point: Point) -> dict:
    """The inputs of a run, and what they are called: not every experiment's rows have that."""
    names = {"source": point.source, "progress": point.scenario.progress}
    return names | point.inputs()


def _of(row: dict, inputs: dict | None) -> tuple:
    """What the inputs of a run are called."""
    names = inputs or row
    return names.get("source"), names.get("progress")


def _table(rows: Iterable[dict]) -> pandas.DataFrame:
    order = ["workload", "policy", "load", "seed"]
    return pandas.DataFrame(rows).sort_values(order, ignore_index=True)


def _run_one(indexed: tuple[int, Point]) -> tuple[int, dict]:
    index, point = indexed
    return index, point.row()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Delay a Ctrl-C, or a SIGTERM, to the end of this block, where joblib can end its workers.

    Processes that are started in it never see a Ctrl-C: a terminal sends it to workers, too, which
    would print tracebacks.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted, and only it may set handlers
        return
    # Joblib would start it within the block, where its start unblocks the signal again.
    resource_tracker.ensure_running()
    came: list[int] = []
    # The workers inherit the mask. In this process it is not enough: other threads take the signal.
    handlers = {
        number: signal.signal(number, lambda number, _frame: came.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for number in came:
        signal.raise_signal(number)


@contextlib.contextmanager
def _ended(results: Generator) -> Iterator[Generator]:
    """End the runs that are left when nobody wants their results, without a warning of joblib."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()


@contextlib.contextmanager
def _backend(address: str | None) -> Iterator[None]:
    if address is None:
        yield
        return
    try:
        import distributed  # an extra of its own
    except ImportError as error:
        raise NoDask(
            f"a Dask cluster needs {error.name}, which is not installed: pip install "
            "'nova-twotier[dask]'"
        ) from error

    with (
        distributed.Client(address, timeout=DASK_TIMEOUT),
        joblib.parallel_config(backend="dask"),
    ):
        yield


def _absolute(source: str) -> str:
    """The source with the path of its file, if it has one, from the root."""
    before, path, after = _parts(source)
    return f"{before}{pathlib.Path(path).resolve()}{after}" if path else source


def _parts(source: str) -> tuple[str, str, str]:
    """The parts of a source: before its file (a trace, a fitted model), the file, and the rest."""
    jobs = source.rpartition(catalogue.ESTIMATES)[0]
    model = source.split(":", 2)
    for before, path in (
        ("", source),
        ("", jobs),
        (":".join(model[:2]) + ":", model[-1].partition(catalogue.ESTIMATES)[0]),
    ):
        if _is_file(path):
            return before, path, source[len(before + path) :]
    return source, "", ""


def _is_file(path: str) -> bool:
    return bool(path) and pathlib.Path(path).is_file()


@functools.cache
def _program() -> str:
    """A digest of the code that results depend on."""
    package = pathlib.Path(nova_twotier.__file__).parent
    digest = hashlib.blake2b(digest_size=12)
    for part in ("core", "sim"):
        for path in sorted((package / part).rglob("*.py")):
            if not {"cli", "plots", "reproduce"}.intersection(path.parts):
                digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _digest(path: str) -> str | None:
    if not _is_file(path):
        return None
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, hashlib.blake2b).hexdigest()
