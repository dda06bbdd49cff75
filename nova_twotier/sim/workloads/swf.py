"""Reads traces in the Standard Workload Format of the Parallel Workloads Archive."""

import gzip
import math
import pathlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import IO


class MalformedTrace(ValueError):
    """A trace that cannot be read; the message begins with FILE:LINE and says what is wrong."""


@dataclass(frozen=True, slots=True)
class Record:
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
    def processors(self) -> int:
        """Processors of the machine; without a header, those of the largest job."""
        for key in ("MaxProcs", "MaxNodes"):
            words = (self.header(key) or "").split()
            if words and words[0].isdigit() and int(words[0]) > 0:
                return int(words[0])
        return max((record.procs for record in self.records), default=0)


def read(path: str | pathlib.Path) -> Trace:
    """Read a trace; a name that ends in .gz is unpacked.

    :raises MalformedTrace: at the first line that is not a record.
    :raises OSError: if the file cannot be read.
    """
    path = pathlib.Path(path)
    with _open(path) as stream:
        try:
            return parse(stream, str(path))
        except (EOFError, gzip.BadGzipFile) as error:
            raise MalformedTrace(f"{path}: is not a complete gzip file ({error})") from error


def parse(lines: Iterable[str], name: str) -> Trace:
    """Read a trace from its lines; `name` stands for the file in errors."""
    comments = []
    records = sorted(_records(lines, name, comments), key=lambda r: (r.submit, r.number))
    usable = tuple(record for record in records if record.usable)
    return Trace(tuple(comments), usable, len(records) - len(usable))


def _open(path: pathlib.Path) -> IO[str]:
    # Headers of the archive name people and places; some are in latin-1, which reads every byte.
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="latin-1")
    return path.open(encoding="latin-1")


def _records(lines: Iterable[str], name: str, comments: list[str]) -> Iterator[Record]:
    seen = {}
    for count, line in enumerate(lines, start=1):
        text = line.strip()
        if text.startswith(";"):
            comments.append(text[1:].strip())
        elif text:
            record = _record(text, f"{name}:{count}")
            if record.number in seen:
                raise MalformedTrace(
                    f"{name}:{count}: job {record.number} is in line {seen[record.number]} already"
                )
            seen[record.number] = count
            yield record


_FIELDS = tuple((field.name, field.type) for field in fields(Record))


def _record(text: str, place: str) -> Record:
    words = text.split()
    if len(words) != len(_FIELDS):
        raise MalformedTrace(f"{place}: {len(words)} fields; a record has {len(_FIELDS)}")
    values = []
    for index, (word, (field, kind)) in enumerate(zip(words, _FIELDS, strict=True), start=1):
        try:
            value = float(word)
            if not math.isfinite(value) or (kind is int and value != int(value)):
                raise ValueError
        except ValueError:
            wanted = "a whole number" if kind is int else "a number"
            raise MalformedTrace(
                f"{place}: field {index} ({field}) is {word!r}; it must be {wanted}"
            ) from None
        values.append(kind(value))
    record = Record(*values)
    if record.submit < 0:
        raise MalformedTrace(f"{place}: field 2 (submit) is {words[1]}; it must be 0 or more")
    return record
