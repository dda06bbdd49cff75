"""The users and projects of a cloud without Keystone: those that tokens have named to a service."""

import os
import pathlib

from nova_twotier.api.auth import identity_of
from nova_twotier.tools.fakecloud.child import RUN_DIR


class Identities:
    """Users and their projects, in a file to which all services of the cloud add.

    :param path: the file; by default, that of the cloud to which this process belongs.
    """

    def __init__(self, path: pathlib.Path | None = None):
        self._path = path or pathlib.Path(os.environ[RUN_DIR], "identities")
        self._added = set()

    def add(self, token: str) -> None:
        """Add the user and the project of a token, unless it is none."""
        named = identity_of(token)
        if named is None or (named.user, named.project) in self._added:
            return
        # Several processes may add the same line: each is short enough to be written at once.
        with self._path.open("a") as file:
            file.write(f"{named.user} {named.project}\n")
        self._added.add((named.user, named.project))

    def users(self) -> list[str]:
        return sorted({user for user, _project in self._read()})

    def projects(self) -> list[str]:
        return sorted({project for _user, project in self._read()})

    def _read(self) -> list[list[str]]:
        return [line.split() for line in self._path.read_text().splitlines()]


def adding(application, identities: Identities):
    """The WSGI application, which adds those who send requests to it."""

    def add_and_answer(environ, start_response):
        identities.add(environ.get("HTTP_X_AUTH_TOKEN", ""))
        return application(environ, start_response)

    return add_and_answer
