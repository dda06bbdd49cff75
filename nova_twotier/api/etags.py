"""ETags: a client that sends the tag of its last answer gets a cheap 304 if nothing has changed.

They are weak, since proxies that compress answers drop strong ones.
"""

import hashlib
import re

import falcon

from nova_twotier.api.site import Site
from nova_twotier.db import revisions

#: Seconds. Older answers are given to nobody.
MOST_STALE = 10
#: What Apache adds to the tags of answers that it compresses, and does not take off again.
_COMPRESSED = ("-gzip", "-br")
_STALE = re.compile(r"\bmax-stale=([0-9]{1,4})\b")


def of(site: Site, request, resource) -> str:
    """The ETag of the answer to a request: it changes whenever the answer would.

    Two requests with the same tag have the same answer, whoever sent them. It is made before the
    answer is read: what changes meanwhile shows at the next request.

    :param request: an `endpoint.Request`.
    :param resource: the `endpoint.Resource` that answers it.
    """
    # Before the database: it refuses those who may not see the answer.
    viewpoint = resource.viewpoint(request)
    req = request.req
    asked = req.context.version, req.prefix, req.path, sorted(request.query.items())
    question = repr((site.fingerprint, asked, viewpoint))

    def made() -> str:
        whole = question, resource.revision(request), resource.state(request)
        return hashlib.sha256(repr(whole).encode()).hexdigest()[:40]

    return site.answers.tag(question, age(req), made)


def age(req: falcon.Request) -> int:
    """How many seconds old an answer may be by `Cache-Control: max-stale`; 0: not at all."""
    found = _STALE.search(req.get_header("Cache-Control") or "")
    return min(int(found[1]), MOST_STALE) if found else 0


def revision(site: Site) -> tuple:
    """The revision of the whole database."""
    with site.store.reading() as session:
        return tuple(revisions.read(session, site.conf.coordination.lease))


def headers(tag: str) -> dict[str, str]:
    """The headers of an answer with this tag."""
    return {"ETag": f'W/"{tag}"'}


def is_known(req: falcon.Request, tag: str) -> bool:
    """Whether the client has the answer with this tag.

    `*`, which is any answer, would tell who may not see it that there is one: it is no tag.
    """
    known = req.if_none_match or ()
    return any(f"{tag}{suffix}" in known for suffix in ("", *_COMPRESSED))
