"""The code of the previous release, from the history of this checkout, for tests of what lasts."""

import os
import pathlib
import subprocess
import tarfile
import unittest

ROOT = pathlib.Path(__file__).parents[1]
#: The previous release, and its schema. Change both at each release; a tag is better than a commit,
#: but nothing is tagged yet.
REVISION = "b795b5a656085646fe237f2ebaf5098ecc51b53a"
SCHEMA = "0024"
#: Packages that stand at the top of the repository, and are installed below `nova_twotier`.
BESIDE = ("filters", "weighers", "tools")


def unpack(directory: pathlib.Path) -> None:
    """Write the package `nova_twotier` of the previous release into a directory.

    :raises unittest.SkipTest: if this checkout does not have it.
    """
    git = ["git", "-C", str(ROOT)]
    known = [*git, "cat-file", "-e", REVISION]
    if subprocess.run(known, capture_output=True, check=False).returncode:
        raise unittest.SkipTest(
            f"the previous release, {REVISION}, is not in the history of this checkout: it is "
            "shallow, or no clone"
        )
    archive = directory / "release.tar"
    command = [*git, "archive", "-o", str(archive), REVISION, "nova_twotier", *BESIDE]
    subprocess.run(command, check=True)
    with tarfile.open(archive) as packed:
        packed.extractall(directory, filter="data")
    for name in BESIDE:
        (directory / name).rename(directory / "nova_twotier" / name)


def environment(directory: pathlib.Path) -> dict[str, str]:
    """The environment of a Python that finds the code in a directory first.

    It is to be started there: Python looks in its working directory even before.
    """
    return {**os.environ, "PYTHONPATH": str(directory)}
