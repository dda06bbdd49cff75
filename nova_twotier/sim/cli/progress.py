"""Progress on stderr: only on a terminal, never with --quiet, a few times a second at most."""

import argparse
import contextlib
import sys
from collections.abc import Iterator

#: Seconds between two updates.
INTERVAL = 0.3


def add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="show no progress bar (default: on a terminal)"
    )


def bar(parsed: argparse.Namespace, total: int | None, unit: str, **options):
    """A bar of tqdm that disappears at its end; with --quiet, or where nobody looks, an empty one.

    :param total: units in all; None: not known.
    :param options: as `tqdm.tqdm` takes them.
    """
    import tqdm

    return tqdm.tqdm(
        total=total,
        unit=unit,
        file=sys.stderr,
        mininterval=INTERVAL,
        leave=False,
        disable=True if parsed.quiet else None,
        **options,
    )


@contextlib.contextmanager
def steps(parsed: argparse.Namespace, total: int) -> Iterator:
    """A bar of steps that take long each; call what it yields with the name of the next step."""
    with bar(parsed, total, "step") as shown:
        begun = False

        def begin(name: str) -> None:
            nonlocal begun
            if begun:
                shown.update()
            begun = True
            shown.set_description(name)

        yield begin
