"""Logins at Keystone for people who have no OpenStack client at hand, such as the board's."""

import contextlib
from collections.abc import Iterator

from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1.access import AccessInfo
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from nova_twotier.ledger.placement import brief

#: Keystone's errors that mean that it does not know the user, the password or the project.
_REFUSALS = (
    ksa_exc.BadRequest,
    ksa_exc.Unauthorized,
    ksa_exc.Forbidden,
    ksa_exc.NotFound,
)


class LoginError(Exception):
    """Keystone does not answer; the message is for operators."""


class LoginRefused(LoginError):
    """Keystone does not take the credentials; which part is wrong is not told."""


class Logins:
    """Gets tokens for others from Keystone.

    :param url: Keystone's.
    :param session: without credentials of its own.
    """

    def __init__(self, url: str, session: Session):
        self._url, self._session = url, session

    def with_password(
        self,
        user: str,
        password: str,
        domain: str,
        project: str | None = None,
        project_domain: str | None = None,
    ) -> AccessInfo:
        """The token of a user and, if none is named, of the user's default project.

        :param domain: the user's, by name; the project's, unless that is named.
        :raises LoginRefused, LoginError: if there is no token.
        """
        return self._access(
            v3.Password(
                self._url,
                username=user,
                password=password,
                user_domain_name=domain,
                project_name=project,
                project_domain_name=None if project is None else project_domain or domain,
                include_catalog=False,
            )
        )

    def with_application_credential(self, identifier: str, secret: str) -> AccessInfo:
        """The token of an application credential, which is for one project.

        :raises LoginRefused, LoginError: if there is no token.
        """
        return self._access(
            v3.ApplicationCredential(
                self._url,
                application_credential_id=identifier,
                application_credential_secret=secret,
                include_catalog=False,
            )
        )

    def with_token(self, token: str, project_id: str) -> AccessInfo:
        """Get a token for a project in exchange for another token of the same user.

        :raises LoginRefused, LoginError: if there is no token.
        """
        return self._access(
            v3.Token(self._url, token, project_id=project_id, include_catalog=False)
        )

    def projects(self, token: str) -> list[dict]:
        """List the projects that a token can be scoped to, as Keystone describes them.

        :raises LoginRefused, LoginError: if Keystone does not tell.
        """
        url = f"{self._url.rstrip('/').removesuffix('/v3')}/v3/auth/projects"
        headers = {"X-Auth-Token": token, "Accept": "application/json"}
        with _translated_errors():
            answer = self._session.get(url, headers=headers, authenticated=False, log=False)
            return answer.json()["projects"]

    def _access(self, auth: v3.Auth) -> AccessInfo:
        with _translated_errors():
            return auth.get_access(self._session)


@contextlib.contextmanager
def _translated_errors() -> Iterator[None]:
    """Raises our errors for Keystone's, without the cause: a traceback could show what was sent.

    :raises LoginRefused, LoginError: for them.
    """
    try:
        yield
    except _REFUSALS:
        raise LoginRefused("Keystone refused a login") from None
    except ksa_exc.ClientException as error:
        raise LoginError(f"Keystone: {brief(error)}") from None
