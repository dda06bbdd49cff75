"""Writes files as a whole: whoever reads one finds all of it, or what was there before."""

import contextlib
import os
import pathlib
import shutil
from collections.abc import Iterator


class NoPlace(ValueError):
    """A path where no file can be made; the message says why."""


def possible(path: str | pathlib.Path) -> pathlib.Path:
    """The path, if a file can be put there: to ask before a long run.

    :raises NoPlace: if not.
    """
    path = pathlib.Path(path)
    if not path.parent.is_dir():
        raise NoPlace(f"{path}: there is no directory {path.parent}")
    if path.is_dir():
        raise NoPlace(f"{path}: is a directory")
    # What is no ordinary file, such as a pipe, is written to directly.
    replaced = path.is_file() or not path.exists()
    if replaced and not os.access(path.parent, os.W_OK):
        raise NoPlace(f"{path}: no file can be made in {path.parent}")
    return path


@contextlib.contextmanager
def replacing(path: str | pathlib.Path) -> Iterator[pathlib.Path]:
    """A path to write to, which becomes this one when all is written.

    It is in the same directory and has the same suffix. If writing fails, for example because the
    disk is full, nothing is left of it. A file that was there before keeps its mode, and one that
    may not be written to stays. What is no ordinary file, such as a pipe, is written to directly.

    :raises OSError: if the file cannot be written; it has the name of the file.
    """
    target = pathlib.Path(path)
    there = target.is_file()
    ordinary = there or not target.exists()
    if ordinary:
        # Through a symbolic link, as any other program would write. Those of /dev/stdout and of a
        # shell's >(...) lead to no path.
        target = pathlib.Path(os.path.realpath(path))
    part = target.with_name(f".{os.getpid()}.{target.name}") if ordinary else target
    try:
        if there:
            # The directory alone would allow to replace it.
            target.open("r+b").close()
        yield part
        if there:
            shutil.copymode(target, part)
        if ordinary:
            part.replace(target)
    except OSError as error:
        # A full disk is noticed by a write, which does not know the name.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        if ordinary:
            part.unlink(missing_ok=True)
