"""The outermost middleware: logs errors of libraries, and answers them in our format."""

import json

import webob
import webob.exc
from oslo_context.context import RequestContext
from oslo_log import log as logging
from oslo_middleware.request_id import ENV_REQUEST_ID

from nova_twotier.api import errors
from nova_twotier.api.errors import Refused

LOG = logging.getLogger(__name__)

#: Set in the environ if the answer needs no translation.
OURS = "nova_twotier.answered"
_KEPT = ("WWW-Authenticate", "Retry-After", "Allow")


class Guard:
    def __init__(self, application):
        self._application = application

    def __call__(self, environ, start_response):
        # So that log lines have this request's id, not that of the thread's previous request.
        RequestContext(request_id=environ[ENV_REQUEST_ID])
        request = webob.Request(environ)
        try:
            answer = request.get_response(self._application)
        except Refused as refused:
            answer = _answer(environ, refused)
        except webob.exc.HTTPException as refused:
            answer = _answer(environ, _translated(refused))
        except Exception:
            LOG.exception("A request failed outside of the API")
            answer = _answer(environ, errors.failure())
        else:
            if answer.status_int >= 400 and not environ.get(OURS):
                answer = _answer(environ, _translated(answer))
        return answer(environ, start_response)


def _translated(answer) -> Refused:
    headers = {name: answer.headers[name] for name in _KEPT if name in answer.headers}
    detail = ""
    if answer.status_int == 401:
        detail = "send a valid token in X-Auth-Token"
    elif answer.status_int == 413:
        detail = "the body is too large"
    elif answer.status_int == 503:
        detail = "a service that the API needs, such as Keystone, does not answer; try again later"
        headers.setdefault("Retry-After", "5")
    return errors.plain(answer.status_int, detail, headers)


def _answer(environ: dict, refused: Refused) -> webob.Response:
    request_id = environ[ENV_REQUEST_ID]
    answer = webob.Response(
        json.dumps(errors.document(request_id, refused)),
        refused.status,
        content_type="application/json",
        charset="UTF-8",
    )
    answer.headers.update(refused.headers)
    return answer
