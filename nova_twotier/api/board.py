"""The board: a page for browsers that shows the queue live, at `/board`.

It is a client of the API as any other, and shows what its reader's token may see. It consists of
the files of the directory `static`, which are read when the API starts: what is not among them has
no route.
"""

import hashlib
import json
from collections.abc import Iterable
from importlib import resources

import falcon

PATH = "/board"
INDEX = "index.html"
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


class File:
    """A falcon resource that serves one file from memory."""

    def __init__(self, content: bytes, media_type: str):
        self._content, self._type = content, media_type
        self._tag = falcon.ETag(hashlib.sha256(content).hexdigest()[:40])

    def on_get(self, req, resp):
        resp.set_headers(HEADERS)
        resp.etag = self._tag
        if self._tag in (req.if_none_match or ()):
            resp.status = falcon.HTTP_304
            return
        resp.content_type, resp.data = self._type, self._content


class Page(File):
    """The page itself, whose references are relative to a path without a slash at its end."""

    def on_get(self, req, resp):
        if req.env["PATH_INFO"].endswith("/"):
            raise falcon.HTTPPermanentRedirect(f"..{PATH}")
        super().on_get(req, resp)


def files(auth_strategy: str) -> dict[str, File]:
    """The resources of the board by their paths.

    :param auth_strategy: option `[api]auth_strategy`, which says whether the page asks for a
        password.
    """
    static = resources.files(__package__) / "static"
    settings = json.dumps({"auth_strategy": auth_strategy}).encode()
    found = list(_read(static))
    page = _preloading((static / INDEX).read_text(), (path for path, _content, _kind in found))
    return {
        PATH: Page(page.encode(), "text/html; charset=utf-8"),
        SETTINGS: File(settings, falcon.MEDIA_JSON),
        **{f"{PATH}{path}": File(content, kind) for path, content, kind in found},
    }


def _preloading(page: str, paths: Iterable[str]) -> str:
    """The page with a link to each module, so that browsers load all of them at once.

    Otherwise they would learn of a module only when they have the one that imports it.
    """
    links = (
        f'<link rel="modulepreload" href="board{path}">' for path in paths if path.endswith(".js")
    )
    return page.replace(_MODULES, "\n  ".join(links))


def _read(directory, prefix: str = "/"):
    """The path below the board, the content and the type of each file, of all directories."""
    for entry in sorted(directory.iterdir(), key=lambda each: each.name):
        if entry.is_dir():
            yield from _read(entry, f"{prefix}{entry.name}/")
            continue
        kind = TYPES.get("." + entry.name.rpartition(".")[2])
        if kind:
            yield f"{prefix}{entry.name}", entry.read_bytes(), kind
