"""Writes files as a whole: whoever reads one finds all of it, or what was there before."""

import contextlib
import os
import pathlib
import secrets
import shutil
from collections.abc import Iterator


class NoPlace(ValueError):
    """A path where no file can be made; the message says why."""


def possible(path: str | pathlib.Path) -> pathlib.Path:
    """Check, before a long run, that a file can be written to a path; return the path.

    :raises NoPlace: if not.
    """
    path = pathlib.Path(path)
    if path.is_dir():
        raise NoPlace(f"{path}: is a directory")
    target, ordinary = _target(path)
    if not target.parent.is_dir():
        raise NoPlace(f"{path}: there is no directory {target.parent}")
    if ordinary and not os.access(target.parent, os.W_OK):
        raise NoPlace(f"{path}: no file can be made in {target.parent}")
    if target.exists() and not os.access(target, os.W_OK):
        raise NoPlace(f"{path}: may not be written to")
    return path


@contextlib.contextmanager
def replacing(path: str | pathlib.Path) -> Iterator[pathlib.Path]:
    """A path to write to, which becomes this one when all is written.

    It is in the same directory and has the same suffix. If writing fails, for example because the
    disk is full, nothing is left of it. A file that was there before keeps its mode, and one that
    may not be written to stays. What is no ordinary file, such as a pipe, is written to directly.

    :raises OSError: if the file cannot be written; it has the name of the file.
    """
    target, ordinary = _target(path)
    there = target.is_file()
    # At random: processes in two containers may have the same number.
    part = target.with_name(f".{secrets.token_hex(4)}.{target.name}") if ordinary else target
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


def _target(path: str | pathlib.Path) -> tuple[pathlib.Path, bool]:
    """The file that a path leads to, and whether it is an ordinary one, or will be."""
    path = pathlib.Path(path)
    ordinary = path.is_file() or not path.exists()
    if ordinary and path.is_symlink():
        # As any other program would write. The link of a pipe, such as /dev/stdout, names no file.
        path = pathlib.Path(os.path.realpath(path))
    return path, ordinary
