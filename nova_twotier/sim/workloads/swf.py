"""Reads and writes traces in the Standard Workload Format of the Parallel Workloads Archive."""

import codecs
import gzip
import io
import math
import pathlib
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import IO, NamedTuple, get_type_hints

from nova_twotier.core.qos import Qos
from nova_twotier.sim import whole_file

#: Headers of the archive name people and places; some are in latin-1, which reads every byte.
ENCODING = "latin-1"
#: What to say of a trace whose classes of service are asked for, and that has none.
NO_CLASSES = (
    "names no classes of service; its header needs lines such as '; Queue: 1 urgent', with the "
    "number of each class in field 15 of its jobs"
)
#: Whole numbers must be smaller: tables have those of jobs and users as 64-bit integers.
TOO_LARGE = 10**18
#: The first bytes of a gzip file.
GZIP = b"\x1f\x8b"


class MalformedTrace(ValueError):
    """A trace that cannot be read; the message begins with FILE:LINE and says what is wrong."""


class Record(NamedTuple):
    """One line of a trace, in the format's order; times in seconds, -1 is unknown."""

    number: int
    submit: float
    wait: float
    run: float
    allocated: int
    cpu_time: float
    memory: float
    requested: int
    requested_time: float
    requested_memory: float
    status: int
    user: int
    group: int
    executable: int
    queue: int
    partition: int
    preceding: int
    think_time: float

    @property
    def procs(self) -> int:
        """Processors the job had, else those it asked for."""
        return self.allocated if self.allocated > 0 else self.requested

    @property
    def estimate(self) -> float:
        """The requested time, never less than the job ran."""
        return max(self.requested_time, self.run)

    @property
    def usable(self) -> bool:
        """Whether it is a job: what never ran or had no processor is left out."""
        return self.run >= 0 and self.procs > 0


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace: its header comments as they stand, and its usable records by submit time."""

    comments: tuple[str, ...]
    records: tuple[Record, ...]
    #: Records without a run time or processors.
    left_out: int = 0

    def header(self, key: str) -> str | None:
        """The first header line `; key: value`, such as `MaxProcs` or `Acknowledge`."""
        for comment in self.comments:
            name, colon, value = comment.partition(":")
            if colon and name.strip().lower() == key.lower():
                return value.strip()
        return None

    @property
    def queues(self) -> dict[int, str]:
        """The names of the queues that the header names, by number: `; Queue: 1 express`."""
        named = {}
        for comment in self.comments:
            key, _colon, value = comment.partition(":")
            words = value.split()
            if key.strip().lower() == "queue" and len(words) > 1 and words[0].isdecimal():
                named[int(words[0])] = words[1]
        return named

    @property
    def classes(self) -> dict[int, Qos]:
        """The classes of service for which queues stand, by number: those that have their names."""
        names = set(Qos)
        return {number: Qos(name) for number, name in self.queues.items() if name in names}

    @property
    def has_classes(self) -> bool:
        """Whether any job is of one of these queues."""
        classes = self.classes
        return any(record.queue in classes for record in self.records)

    @property
    def machine(self) -> int | None:
        """The number of processors that the header gives; None if it gives no valid one."""
        for key in ("MaxProcs", "MaxNodes"):
            words = (self.header(key) or "").split()
            if words and words[0].isdecimal() and int(words[0]) > 0:
                return int(words[0])
        return None

    @property
    def processors(self) -> int:
        """Processors of the machine; without a header, those of the largest job."""
        largest = max((record.procs for record in self.records), default=0)
        return self.machine or largest


def read(path: str | pathlib.Path) -> Trace:
    """Read a trace, packed by gzip or not, whatever its name is.

    :raises MalformedTrace: at the first line that is not a record, or if the gzip file is damaged.
    :raises OSError: if the file cannot be read.
    """
    path = pathlib.Path(path)
    with path.open("rb") as file:
        packed = file.peek(len(GZIP))[: len(GZIP)] == GZIP
        try:
            with gzip.open(file) if packed else file as content:
                # Some editors begin a file with it; here it would be part of the first line.
                if content.peek(len(codecs.BOM_UTF8)).startswith(codecs.BOM_UTF8):
                    content.read(len(codecs.BOM_UTF8))
                return parse(io.TextIOWrapper(content, ENCODING), str(path))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise MalformedTrace(f"{path}: is not a complete gzip file ({error})") from error


def parse(lines: Iterable[str], name: str) -> Trace:
    """Read a trace from its lines; `name` stands for the file in errors."""
    comments = []
    records = sorted(_records(lines, name, comments), key=attrgetter("submit", "number"))
    usable = tuple(record for record in records if record.usable)
    return Trace(tuple(comments), usable, len(records) - len(usable))


def write(path: str | pathlib.Path, trace: Trace) -> None:
    """Write a trace, its comments first; a name that ends in .gz is packed.

    All of it or, when that fails half-way, nothing: the file may be the one that it was read from.

    What is read back equals `trace`, but for characters of comments that latin-1 does not have:
    they are written as escapes.

    :raises OSError: if the file cannot be written.
    """
    path = pathlib.Path(path)
    with whole_file.replacing(path) as part, part.open("wb") as file:
        if path.suffix == ".gz":
            # No time stamp: the same trace gives the same file.
            with gzip.GzipFile(path.name, "wb", 6, file, mtime=0) as packed:
                _dump(packed, trace)
        else:
            _dump(file, trace)


def _records(lines: Iterable[str], name: str, comments: list[str]) -> Iterator[Record]:
    seen = {}
    for count, line in enumerate(lines, start=1):
        words = line.split()
        if not words:
            continue
        if words[0].startswith(";"):
            comments.append(line.strip()[1:].strip())
            continue
        record = _record(words, f"{name}:{count}")
        first = seen.setdefault(record.number, count)
        if first != count:
            raise MalformedTrace(f"{name}:{count}: job {record.number} is in line {first} already")
        yield record


_KINDS = tuple(get_type_hints(Record).values())


def _record(words: list[str], place: str) -> Record:
    # All fields at once, as they nearly always are; one by one only to say which is wrong, or
    # to take a whole number that is written as 2.0.
    try:
        record = Record._make([kind(word) for kind, word in zip(_KINDS, words, strict=True)])
        # One infinity or NaN among them makes the sum one; of absolute values, none hides another.
        usual = sum(map(abs, record)) < TOO_LARGE
    except (ValueError, OverflowError):
        usual = False
    if not usual:
        record = _checked(words, place)
    if record.submit < 0:
        raise MalformedTrace(f"{place}: field 2 (submit) is {words[1]}; it must be 0 or more")
    return record


def _checked(words: list[str], place: str) -> Record:
    if len(words) != len(_KINDS):
        raise MalformedTrace(
            f"{place}: is not a record of the Standard Workload Format, which has {len(_KINDS)} "
            f"fields; this line has {len(words)}"
        )
    values = []
    for word, field, kind in zip(words, Record._fields, _KINDS, strict=True):
        try:
            value = float(word)
            if not math.isfinite(value) or (kind is int and value != int(value)):
                raise ValueError
        except ValueError:
            wanted = "a whole number" if kind is int else "a number"
            raise MalformedTrace(
                f"{place}: field {len(values) + 1} ({field}) is {word!r}; it must be {wanted}"
            ) from None
        if kind is int and abs(value) >= TOO_LARGE:
            raise MalformedTrace(
                f"{place}: field {len(values) + 1} ({field}) is {word}; it must be below "
                f"{TOO_LARGE:.0e}"
            )
        values.append(kind(value))
    return Record._make(values)


_LINE_BREAKS = re.compile(r"[\r\n]+")


def _dump(stream: IO[bytes], trace: Trace) -> None:
    with io.TextIOWrapper(stream, ENCODING, errors="backslashreplace", newline="\n") as text:
        for comment in trace.comments:
            # A line break would begin a record.
            text.write(f"; {_LINE_BREAKS.sub(' ', comment)}\n")
        for record in trace.records:
            text.write(" ".join(map(_number, record)) + "\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
