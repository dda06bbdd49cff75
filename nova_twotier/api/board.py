"""The board: a page for browsers that shows the queue live, at `/board`.

It is a client of the API as any other, and shows what its reader's token may see. It consists of
the files of the directory `static`, which are read when the API starts: what is not among them has
no route.
"""

import html
import json
import re
from collections.abc import Sequence
from urllib.parse import parse_qs

import falcon

from nova_twotier.api import board_files, errors, etags
from nova_twotier.api.board_files import HEADERS, PATH, SETTINGS, Content
from nova_twotier.api.websso import Provider

_TOKEN = re.compile(r"[\x21-\x7e]+")


class File:
    """A falcon resource that serves one file from memory."""

    def __init__(self, content: Content):
        self._content, self._tag = content, falcon.ETag(content.tag)

    def on_get(self, req, resp):
        resp.set_headers(HEADERS)
        resp.etag = self._tag
        if etags.is_known(req, self._tag):
            resp.status = falcon.HTTP_304
            return
        resp.content_type, resp.data = self._content.media_type, self._content.body


class Page(File):
    """The page itself, whose references are relative to a path without a slash at its end."""

    def on_get(self, req, resp):
        self.check_path(req)
        super().on_get(req, resp)

    def check_path(self, req) -> None:
        """:raises HTTPPermanentRedirect: if there is a slash at the end."""
        if req.env["PATH_INFO"].endswith("/"):
            raise falcon.HTTPPermanentRedirect(f"..{PATH}")


class Landing(Page):
    """The board's page, which also takes the form that Keystone's single sign-on posts.

    A script of the page takes the token out of it: it is in no address, cookie or log. That this
    browser asked for it, only the page knows, by what it kept in the tab before it left.

    :param providers: whose Keystone may send browsers here.
    """

    def __init__(self, content: Content, providers: Sequence[Provider]):
        super().__init__(content)
        self._origins = {each.origin for each in providers}
        self._before, self._after = content.body.split(b"<body>")

    def on_post(self, req, resp):
        self.check_path(req)
        # Otherwise any site could log its visitors in as somebody else.
        if req.get_header("Origin") not in self._origins:
            raise errors.wrong_origin()
        # Its size is limited by the middleware.
        sent = req.bounded_stream.read().decode("latin-1")
        try:
            form = parse_qs(sent, max_num_fields=10)
        except ValueError:
            form = {}  # it has more fields than Keystone sends
        token = form.get("token", [""])[0]
        if not _TOKEN.fullmatch(token):
            raise errors.invalid("token: Keystone sent none")
        resp.set_headers({**HEADERS, "Cache-Control": "no-store"})
        body = f'<body data-token="{html.escape(token)}">'.encode()
        resp.content_type, resp.data = (
            self._content.media_type,
            self._before + body + self._after,
        )


def files(auth_strategy: str, providers: Sequence[Provider] = ()) -> dict[str, File]:
    """The resources of the board by their paths.

    :param auth_strategy: option `[api]auth_strategy`, which says whether the page asks for a
        password.
    :param providers: the ways of a single sign-on that it offers.
    """
    choices = [{"name": each.name, "url": each.url} for each in providers]
    settings = json.dumps({"auth_strategy": auth_strategy, "websso": choices}).encode()
    contents = board_files.read()
    page = contents.pop(PATH)
    return {
        PATH: Landing(page, providers) if providers else Page(page),
        SETTINGS: File(Content(settings, falcon.MEDIA_JSON)),
        **{path: File(content) for path, content in contents.items()},
    }
