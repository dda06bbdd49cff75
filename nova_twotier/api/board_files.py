"""The files of the board and the headers that they are served with.

`openstack twotier board` serves them, too: nothing of the API's libraries is imported here.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

PATH = "/board"
#: Where the page says which modules there are.
_MODULES = "<!-- modules -->"
#: What the page asks how to log in.
SETTINGS = f"{PATH}/settings.json"
#: By suffix; other files are not served.
TYPES = {
    ".LICENSE": "text/plain; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True)
class Content:
    """A body and its media type, served at one path."""

    body: bytes
    media_type: str

    @cached_property
    def tag(self) -> str:
        """The ETag of the body, without quotes."""
        return hashlib.sha256(self.body).hexdigest()[:40]


def read() -> dict[str, Content]:
    """The page and its files by path, except the settings."""
    static = resources.files(__package__) / "static"
    found = dict(_below(static, PATH))
    page = _preloading((static / "index.html").read_text(), found)
    return {PATH: Content(page.encode(), "text/html; charset=utf-8"), **found}


def _preloading(page: str, paths: Iterable[str]) -> str:
    """The page with a link to each module, so that browsers load all of them at once.

    Otherwise they would learn of a module only when they have the one that imports it.
    """
    links = (
        f'<link rel="modulepreload" href="{path.removeprefix("/")}">'
        for path in paths
        if path.endswith(".js")
    )
    return page.replace(_MODULES, "\n  ".join(links))


def _below(directory, prefix: str):
    """Yield the path and the content of each file below a directory, recursively."""
    for entry in sorted(directory.iterdir(), key=lambda each: each.name):
        path = f"{prefix}/{entry.name}"
        if entry.is_dir():
            yield from _below(entry, path)
            continue
        kind = TYPES.get("." + entry.name.rpartition(".")[2])
        if kind:
            yield path, Content(entry.read_bytes(), kind)
