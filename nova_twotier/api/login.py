"""The resource of logins: gives the board, which cannot reach Keystone itself, a token."""

import contextlib
import re
import unicodedata
from collections.abc import Iterator

from oslo_log import log as logging

from nova_twotier.api import errors, login_schemas
from nova_twotier.api.endpoint import Reply, Request, Resource, endpoint
from nova_twotier.api.errors import Refused
from nova_twotier.api.site import Site
from nova_twotier.cloud.logins import LoginError, LoginRefused, Logins

LOG = logging.getLogger(__name__)

#: The names that Unicode gives to characters like `a`: with a stroke, without a dot, above others.
_LATIN = re.compile(r"LATIN (?:SMALL|CAPITAL) (?:LETTER|LIGATURE) (?:[A-Z]{3,} )?([A-Z]{1,2})\b")
_LETTERS = {"Lu", "Ll", "Lt", "Lo"}
_SEVERAL_S = re.compile("s+")


class Login(Resource):
    @endpoint(
        "Get a token from Keystone, with a password or an application credential",
        rule=None,
        body=login_schemas.LOGIN,
        answers={200: login_schemas.LOGGED_IN},
        refusals=(401, 403, 404, 429),
    )
    def on_post(self, request: Request):
        address, body = request.req.remote_addr, request.body
        who = _who(body)
        with _admitted(self.site, address, who) as logins:
            access = _access(logins, body)
        if not _has_token(body):
            self.site.throttle.remember_login(address, who)
        if not access.project_id:
            raise Refused(
                403,
                "login.no_project",
                "project: name the project; the user has no default project",
            )
        LOG.info("User %s logged in from %s", access.user_id, address)
        answer = {
            "token": access.auth_token,
            "expires_at": access.expires.isoformat(timespec="milliseconds"),
            "user": {"id": access.user_id, "name": access.username},
            "project": {"id": access.project_id, "name": access.project_name},
            "roles": sorted(access.role_names),
        }
        return Reply(answer, 200, {"Cache-Control": "no-store"})


class Projects(Resource):
    @endpoint(
        "List the projects that a token of Keystone for no project can be exchanged for",
        rule=None,
        body=login_schemas.WHOSE_PROJECTS,
        answers={200: login_schemas.PROJECTS},
        refusals=(401, 404, 429),
    )
    def on_post(self, request: Request):
        token = request.body["token"]
        with _admitted(self.site, request.req.remote_addr, ("token", token)) as logins:
            found = logins.projects(token)
        projects = [{name: each[name] for name in ("id", "name", "domain_id")} for each in found]
        projects.sort(key=lambda each: (each["name"], each["id"]))
        return Reply({"projects": projects}, 200, {"Cache-Control": "no-store"})


@contextlib.contextmanager
def _admitted(site: Site, address: str, who: tuple[str, ...]) -> Iterator[Logins]:
    """Admit a login that is within the limits, and translate the errors of Keystone.

    :raises Refused: if it is not, or Keystone refuses or does not answer.
    """
    if site.logins is None:
        raise errors.no_logins()
    site.throttle.admit_login(address, who)
    try:
        yield site.logins
    except LoginRefused:
        # Not the name: some type their password there.
        LOG.warning("Keystone refused a login from %s", address)
        raise errors.wrong_login() from None
    except LoginError as error:
        LOG.error("A login failed: %s", error)
        raise errors.unavailable("Keystone") from None


def _has_credential(body: dict) -> bool:
    """Whether the login is by an application credential: its schema lets only one way be whole."""
    return {"application_credential", "secret"} <= body.keys()


def _has_token(body: dict) -> bool:
    return {"token", "project_id"} <= body.keys()


def _who(body: dict) -> tuple[str, ...]:
    """Whose credentials a request has, or claims to have."""
    if _has_credential(body):
        return ("credential", body["application_credential"])
    if _has_token(body):
        return ("token", body["token"])
    domain = body.get("domain", login_schemas.DEFAULT_DOMAIN)
    return ("user", _plain(domain), _plain(body["user"]))


def _plain(name: str) -> str:
    """Reduce a name to what all spellings have in common that Keystone may take for one user.

    Keystone takes names as its database compares them: in MySQL, in any case, with or without
    accents, strokes, marks and what cannot be seen. The sharp s may count as one s, or as two.
    """
    letters = map(_plain_letter, unicodedata.normalize("NFKD", name))
    return _SEVERAL_S.sub("s", "".join(letters).casefold())


def _plain_letter(each: str) -> str:
    """The Latin letters or the digit that a character may count as; empty for signs and marks."""
    if (digit := unicodedata.digit(each, None)) is not None:
        return str(digit)
    if latin := _LATIN.search(unicodedata.name(each, "")):
        return latin[1]
    return each if unicodedata.category(each) in _LETTERS else ""


def _access(logins: Logins, body: dict):
    """:raises LoginRefused, LoginError: if there is no token."""
    if _has_credential(body):
        return logins.with_application_credential(body["application_credential"], body["secret"])
    if _has_token(body):
        return logins.with_token(body["token"], body["project_id"])
    return logins.with_password(
        body["user"],
        body["password"],
        body.get("domain", login_schemas.DEFAULT_DOMAIN),
        body.get("project"),
        body.get("project_domain"),
    )
