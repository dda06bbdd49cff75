"""Data frames in and out of files, CSV or Parquet by the name's suffix."""

import pathlib
from collections.abc import Iterable

import pandas

from nova_twotier.sim import whole_file

SUFFIXES = (".csv", ".parquet")


class TableError(ValueError):
    """A file that cannot hold or does not hold a table; the message says why."""


def write(frame: pandas.DataFrame, path: str | pathlib.Path) -> None:
    """Write all of the table or, when it fails half-way, nothing.

    :raises TableError, whole_file.NoPlace: as `writable` does.
    :raises OSError: if the file cannot be written.
    """
    path = writable(path)
    with whole_file.replacing(path) as part:
        if path.suffix == ".csv":
            frame.to_csv(part, index=False)
        else:
            frame.to_parquet(part, index=False)


def read(path: str | pathlib.Path) -> pandas.DataFrame:
    """Read a table as it was written.

    :raises TableError: if the suffix is neither .csv nor .parquet, or it is not such a file.
    :raises OSError: if the file cannot be read.
    """
    path = checked(path)
    # pyarrow's own error about a file that is not there says nothing but its name.
    path.open("rb").close()
    try:
        if path.suffix == ".csv":
            return pandas.read_csv(path)
        return pandas.read_parquet(path)
    except ValueError as error:  # of pandas and of pyarrow
        reason = str(error).splitlines()[0]
        raise TableError(f"{path}: is not a {path.suffix} table ({reason})") from error


def checked(path: str | pathlib.Path) -> pathlib.Path:
    """The path, if its suffix is that of a table.

    :raises TableError: if it is not.
    """
    path = pathlib.Path(path)
    if path.suffix not in SUFFIXES:
        raise TableError(f"{path}: a table is a file that ends in {' or '.join(SUFFIXES)}")
    return path


def writable(path: str | pathlib.Path) -> pathlib.Path:
    """Check, before a long run, that a table can be written to a path; return the path.

    :raises TableError: if the suffix is not that of a table.
    :raises whole_file.NoPlace: if no file can be made there.
    """
    return whole_file.possible(checked(path))


def select(frame: pandas.DataFrame, conditions: Iterable[tuple[str, str]]) -> pandas.DataFrame:
    """The rows in which each column has its value; `none` stands for no value.

    :raises TableError: if there is no such column, or no such row.
    """
    for column, value in conditions:
        if column not in frame:
            raise TableError(f"the table has no column {column!r}")
        frame = frame[[_same(cell, value) for cell in frame[column]]]
        if frame.empty:
            raise TableError(f"the table has no row with {column}={value}")
    return frame


def _same(cell, value: str) -> bool:
    if pandas.isna(cell):
        return value == "none"
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        try:
            return float(value) == cell
        except ValueError:
            return False
    return str(cell).lower() == value.lower()
