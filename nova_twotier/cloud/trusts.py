"""Keystone trusts, with which the manager boots a job in the name and project of its owner.

The API makes the trust with the owner's token when the job is submitted. The trust outlives the
token, and is deleted with the job. It does not expire, because a job may wait and run for any time
and Keystone cannot extend a trust.
"""

from typing import NamedTuple, cast

from keystoneauth1 import adapter, loading, plugin
from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1.identity.base import BaseIdentityPlugin
from keystoneauth1.session import Session
from oslo_config import cfg

from nova_twotier.ledger.placement import brief, login_refused

#: Attribute that names the job and tells our trusts from others of the same user. Keystone keeps
#: unknown attributes.
JOB = "nova_twotier_job"
#: Options for the scope of a token; here the trust determines it.
_SCOPES = (
    "domain_id",
    "domain_name",
    "project_id",
    "project_name",
    "project_domain_id",
    "project_domain_name",
    "system_scope",
)
#: Keystone's errors that mean that the request is wrong.
_REFUSALS = (
    ksa_exc.BadRequest,
    ksa_exc.Unauthorized,
    ksa_exc.Forbidden,
    ksa_exc.NotFound,
)


class TrustError(Exception):
    """Keystone failed; the message is for operators."""


class NoTrust(TrustError):
    """Keystone does not let the owner make the trust, or the manager use it."""


class Given(NamedTuple):
    """A trust of which the manager's user is the trustee.

    :param job: uuid of the job that it was made for; None if it is not ours.
    """

    id: str
    job: str | None


class Trusts:
    """Trusts of which the session's user is the trustee.

    :param session: keystoneauth session of the manager's user, who may delete all trusts.
    :param roles: names of the roles that a trust delegates.
    """

    def __init__(self, session: Session, roles: list[str]):
        self._session, self._roles = session, roles
        # The Keystone that issues the session's tokens.
        self._keystone = adapter.Adapter(
            session, interface=cast(str, plugin.AUTH_INTERFACE), version="3"
        )

    def create(self, token: str, user: str, project: str, job: str) -> str | None:
        """Make a trust that lets the manager act as the user in the project; returns its id.

        None if no trust is needed, because they are the manager's own user and project.

        :param token: the user's token for the project.
        :param job: the uuid of the job that the trust is for.
        :raises NoTrust: if the token cannot make trusts, or the user lacks a role.
        :raises TrustError: if Keystone does not answer, or does not know the manager's user.
        """
        trustee, own_project = self._trustee()
        if (user, project) == (trustee, own_project):
            return None
        trust = {
            "trustor_user_id": user,
            "trustee_user_id": trustee,
            "project_id": project,
            "roles": [{"name": role} for role in self._roles],
            # So that servers and key pairs belong to the user.
            "impersonation": True,
            JOB: job,
        }
        try:
            answer = self._keystone.post(
                "/OS-TRUST/trusts",
                json={"trust": trust},
                headers={"X-Auth-Token": token},
                authenticated=False,
            )
        except _REFUSALS as error:
            raise NoTrust(f"Keystone refused a trust of user {user}: {error}") from error
        except ksa_exc.ClientException as error:
            raise TrustError(f"Keystone made no trust: {brief(error)}") from error
        return answer.json()["trust"]["id"]

    def _trustee(self) -> tuple[str | None, str | None]:
        """The manager's user and project."""
        try:
            return self._session.get_user_id(), self._session.get_project_id()
        except ksa_exc.ClientException as error:
            raise _failure("the user of [nova] cannot log in", error) from error

    def given(self) -> list[Given]:
        """All trusts of the manager's user, including those that others made.

        :raises TrustError: if Keystone does not list them, or is not even asked for tokens.
        """
        trustee, _own_project = self._trustee()
        if trustee is None:
            raise TrustError(
                "[nova]auth_type logs in to no Keystone, and so there are no trusts: with "
                "[api]auth_strategy = noauth there is nothing to do, as no job has one; with "
                "keystone, use password"
            )
        try:
            # Keystone does not page this list.
            answer = self._keystone.get("/OS-TRUST/trusts", params={"trustee_user_id": trustee})
        except ksa_exc.ClientException as error:
            raise _failure("Keystone does not list trusts", error) from error
        return [Given(trust["id"], trust.get(JOB)) for trust in answer.json()["trusts"]]

    def delete(self, trust: str) -> None:
        """Delete a trust if it exists: Keystone deletes a user's trusts with the user.

        :raises NoTrust: if Keystone does not let the manager's user delete it.
        :raises TrustError: if Keystone does not answer.
        """
        try:
            self._keystone.delete(f"/OS-TRUST/trusts/{trust}")
        except ksa_exc.NotFound:
            return
        except ksa_exc.Forbidden as error:
            raise NoTrust(
                f"Keystone does not let the user of [nova] delete trust {trust}: {brief(error)}; "
                "once it does, `twotier-manage trust sweep` deletes what is left"
            ) from error
        except ksa_exc.ClientException as error:
            raise _failure("Keystone did not delete a trust", error) from error


def _failure(what: str, error: ksa_exc.ClientException) -> TrustError:
    if isinstance(error, ksa_exc.Unauthorized):
        return TrustError(login_refused("Keystone", "nova"))
    return TrustError(f"{what}: {brief(error)}")


def log_in(conf: cfg.ConfigOpts, session: Session, trust: str) -> BaseIdentityPlugin:
    """An auth plugin that is logged in by a trust, with the credentials of group `[nova]`.

    :param session: to talk to Keystone with.
    :raises NoTrust: if Keystone does not accept the trust.
    :raises TrustError: if Keystone does not answer, does not accept the credentials either, or
        those are no credentials for a trust.
    """
    scope = {**dict.fromkeys(_SCOPES), "trust_id": trust}
    try:
        auth = loading.load_auth_from_conf_options(conf, "nova", **scope)
    except TypeError:
        auth = None
    if not isinstance(auth, BaseIdentityPlugin):
        raise TrustError("[nova]auth_type takes no trusts: use password")
    try:
        auth.get_access(session)
    except (ksa_exc.BadRequest, ksa_exc.Unauthorized, ksa_exc.Forbidden) as error:
        if isinstance(error, ksa_exc.Unauthorized):
            # Keystone says that of a trust that is gone, and of a wrong password.
            _require_login(conf, session)
        raise NoTrust(f"Keystone does not take a job's trust: {error}") from error
    except ksa_exc.ClientException as error:
        raise TrustError(f"Keystone does not answer: {brief(error)}") from error
    return auth


def _require_login(conf: cfg.ConfigOpts, session: Session) -> None:
    """:raises TrustError: unless Keystone accepts the credentials of `[nova]` now."""
    auth = loading.load_auth_from_conf_options(conf, "nova")
    try:
        cast(BaseIdentityPlugin, auth).get_access(session)
    except ksa_exc.ClientException as error:
        raise _failure("Keystone does not answer", error) from error
