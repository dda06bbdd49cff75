"""The files of the board and the headers that they are served with.

`openstack twotier board` serves them, too: nothing of the API's libraries is imported here.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

PATH = "/board"
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
    """What is served at a path."""

    body: bytes
    media_type: str

    @cached_property
    def tag(self) -> str:
        """Its ETag, without quotes."""
        return hashlib.sha256(self.body).hexdigest()[:40]


def read() -> dict[str, Content]:
    """The page and all files that it needs, by their paths, but for the settings."""
    static = resources.files(__package__) / "static"
    page = Content((static / "index.html").read_bytes(), "text/html; charset=utf-8")
    return {PATH: page, **dict(_below(static, PATH))}


def _below(directory, prefix: str):
    """Path and content of each file, of all directories."""
    for entry in sorted(directory.iterdir(), key=lambda each: each.name):
        path = f"{prefix}/{entry.name}"
        if entry.is_dir():
            yield from _below(entry, path)
            continue
        kind = TYPES.get("." + entry.name.rpartition(".")[2])
        if kind:
            yield path, Content(entry.read_bytes(), kind)
