"""Authentication and authorization of requests."""

import re
from typing import NamedTuple

from oslo_context.context import RequestContext
from oslo_policy.policy import Enforcer

from nova_twotier.api import errors, roles

#: Set in the environ by the authentication. It is not a header, so a request cannot contain it.
IDENTIFIED = "nova_twotier.identified"

_TOKEN = re.compile(r"(?P<user>[\w.@-]{1,64})(:(?P<project>[\w.@-]{1,64})(:(?P<roles>[\w,-]+))?)?")
#: Implied roles, as in Keystone.
_IMPLIED = {"admin": "manager", "manager": "member", "member": "reader"}


class Identity(NamedTuple):
    """The user, the project and the roles that a token of `noauth` names."""

    user: str
    project: str
    roles: frozenset[str]


def identity_of(token: str) -> Identity | None:
    """What the token `user:project` or `user:project:role,role` says; None if it is no such token.

    The project defaults to the user's name; the role to admin for `admin`, member for others.
    """
    found = _TOKEN.fullmatch(token)
    if found is None:
        return None
    user = found["user"]
    roles = set((found["roles"] or ("admin" if user == "admin" else "member")).split(","))
    for role in ("admin", "manager", "member"):
        if role in roles:
            roles.add(_IMPLIED[role])
    return Identity(user, found["project"] or user, frozenset(roles))


class Identified:
    """Marks requests that passed the authentication.

    With `delay_auth_decision`, keystonemiddleware lets requests with invalid tokens pass.
    """

    def __init__(self, application):
        self._application = application

    def __call__(self, environ, start_response):
        environ[IDENTIFIED] = environ.get("HTTP_X_IDENTITY_STATUS") == "Confirmed"
        return self._application(environ, start_response)


class Private:
    """Falcon middleware that keeps answers to requests with a token out of shared caches.

    Some caches between the API and its clients keep all answers that do not say otherwise.
    """

    def process_response(self, req, resp, _resource, _succeeded):
        if IDENTIFIED in req.env:
            resp.set_header("Cache-Control", "private, no-cache")
            resp.append_header("Vary", "X-Auth-Token")


class NoAuth:
    """Trusts the tokens that identity_of() describes. For demonstrations only."""

    def __init__(self, application):
        self._application = application

    def __call__(self, environ, start_response):
        identity = identity_of(environ.get("HTTP_X_AUTH_TOKEN", ""))
        if identity is None:
            raise errors.Refused(
                401,
                "request.unauthorized",
                "send the header X-Auth-Token: user:project",
                headers={"WWW-Authenticate": "X-Auth-Token"},
            )
        for key in [key for key in environ if _claims_identity(key)]:
            del environ[key]
        environ["HTTP_X_IDENTITY_STATUS"] = "Confirmed"
        environ["HTTP_X_USER_ID"] = identity.user
        environ["HTTP_X_PROJECT_ID"] = identity.project
        environ["HTTP_X_ROLES"] = ",".join(sorted(identity.roles))
        return self._application(environ, start_response)


def _claims_identity(key: str) -> bool:
    return key.startswith(("HTTP_X_", "HTTP_OPENSTACK_SYSTEM"))


class Caller:
    """The sender of a request.

    :raises Refused: without a token, or if it is scoped neither to a project nor to the system.
    """

    def __init__(self, environ: dict, enforcer: Enforcer):
        if not environ.get(IDENTIFIED):
            raise errors.Refused(401, "request.unauthorized", "send a token in X-Auth-Token")
        self._context = RequestContext.from_environ(environ)
        self._enforcer = enforcer
        if not (self.project_id or self._context.system_scope == "all"):
            raise errors.forbidden(
                "the token is for no project; ask Keystone for one that is scoped to a project"
            )

    @property
    def project_id(self) -> str:
        """The token's project; empty if it is scoped to the whole system."""
        return self._context.project_id or ""

    @property
    def user_id(self) -> str:
        return self._context.user_id or ""

    @property
    def identity(self) -> tuple:
        """What policy rules decide by: callers with the same identity get the same answers."""
        context = self._context
        roles = tuple(sorted(context.roles or ()))
        rules = self._enforcer.rules or {}
        checks = tuple(sorted((name, str(check)) for name, check in rules.items()))
        return self.project_id, self.user_id, context.system_scope, roles, checks

    @property
    def token(self) -> str:
        return self._context.auth_token

    def may(self, rule: str, project_id: str, user_id: str = "") -> bool:
        """Whether a rule allows the caller an action in a project."""
        target = {"project_id": project_id, "user_id": user_id}
        return bool(self._enforcer.authorize(rule, target, self._context))

    def require(self, rule: str, project_id: str, user_id: str = "") -> None:
        """:raises Refused: if the rule does not allow it."""
        if not self.may(rule, project_id, user_id):
            needed = roles.needed(self._enforcer, rule)
            raise errors.forbidden(
                f"this needs {needed} (policy rule {rule})"
                if needed
                else f"the policy rule {rule} does not let you do this; ask your operator"
            )

    def scope(self, rule: str, all_projects: bool) -> str | None:
        """The project to list, or None for all projects.

        :raises Refused: if the caller may not see all projects, or has no project.
        """
        if all_projects:
            self.require(f"{rule}:all_projects", self.project_id)
            return None
        if not self.project_id:
            raise errors.invalid("the token is for the whole system: ask with all_projects=true")
        return self.project_id
