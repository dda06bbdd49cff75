"""Draws a chart into the kind of file that the name's suffix asks for."""

import importlib
import pathlib

from nova_twotier.sim import whole_file

SUFFIXES = (".png", ".html")


class PlotError(ValueError):
    """A plot that cannot be drawn; the message says why."""


def checked(path: str | pathlib.Path) -> pathlib.Path:
    """The path, if its suffix names a kind of plot.

    :raises PlotError: if it does not.
    """
    path = pathlib.Path(path)
    if path.suffix not in SUFFIXES:
        raise PlotError(f"{path}: a plot is a file that ends in .png or .html")
    return path


def writable(path: str | pathlib.Path) -> pathlib.Path:
    """Check, before anything that takes long, that a plot can be written to a path; return it.

    :raises PlotError: if its suffix names no kind of plot.
    :raises whole_file.NoPlace: if no file can be made there.
    """
    return whole_file.possible(checked(path))


def draw(chart, path: str | pathlib.Path) -> None:
    """Draw a chart by the module that is named after its own: `gantt` by `gantt_png`.

    :raises PlotError: if the suffix is neither .png nor .html.
    :raises OSError: if the file cannot be written.
    """
    path = checked(path)
    # Only now: matplotlib and plotly take a second each to import.
    module = importlib.import_module(f"{type(chart).__module__}_{path.suffix[1:]}")
    with whole_file.replacing(path) as part:
        module.draw(chart, part)
