"""The paste filter that stands in for Keystone: the token `user:project` is the identity."""

import webob.dec
import webob.exc
from nova import context

ADMIN = ["admin", "manager", "member", "reader"]
MEMBER = ["member", "reader"]


def identity(token: str) -> tuple[str, str, list[str]]:
    """User, project and roles of a token; the project defaults to the user's own."""
    user, _, project = token.partition(":")
    return user, project or user, ADMIN if user == "admin" else MEMBER


def filter_factory(global_conf, **local_conf):
    def bind(application):
        @webob.dec.wsgify
        def authenticate(request):
            token = request.headers.get("X-Auth-Token", "")
            user, project, roles = identity(token)
            if not user:
                return webob.exc.HTTPUnauthorized()
            request.environ["nova.context"] = context.RequestContext(
                user_id=user,
                project_id=project,
                user_name=user,
                project_name=project,
                roles=roles,
                is_admin="admin" in roles,
                auth_token=token,
                remote_address=request.remote_addr,
                global_request_id=request.headers.get("X-OpenStack-Request-ID"),
            )
            return application

        return authenticate

    return bind
