"""Enforces the bandwidth of jobs in Neutron: one QoS policy per job, on the ports of its servers.

The policy belongs to the manager's project. Neutron lets only those remove a policy from a port who
could have put it there, so the owners of the servers cannot. Every operation may be repeated, and
continues an interrupted one.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, overload

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1.identity.base import BaseIdentityPlugin
from keystoneauth1.session import Session
from oslo_config import cfg
from oslo_log import log as logging
from requests import Response

from nova_twotier.cloud.errors import CloudError, not_understood
from nova_twotier.cloud.servers import Server
from nova_twotier.cloud.sessions import session_for
from nova_twotier.core.reasons import failures
from nova_twotier.ledger.placement import brief, login_refused

if TYPE_CHECKING:
    from nova_twotier.db.models import Job

P = ParamSpec("P")

LOG = logging.getLogger(__name__)

#: Types of Neutron's errors that the same request would meet again.
LASTING = frozenset({"QosRuleNotSupported"})
#: Most servers in one listing of ports, which bounds the length of the URL.
AT_ONCE = 50


class NeutronError(CloudError):
    """Neutron refused a request.

    :param kind: Neutron's type of the error.
    """

    def __init__(self, message: str, status: int = 0, kind: str = ""):
        super().__init__(message, status, failures.NEUTRON())
        self.kind = kind

    @property
    def passing(self) -> bool:
        return super().passing and self.kind not in LASTING


def find(conf: cfg.ConfigOpts) -> "Qos | None":
    """The client for Neutron; None if the options disable it, or the cloud has no Neutron.

    :raises ConfigError: if `[nova]` does not say how to authenticate.
    """
    if not conf.network.qos:
        return None
    session, options = session_for(conf, "nova")
    where = {name: options[name] for name in ("region_name", "interface") if name in options}
    qos = Qos(session, conf.network, **where)
    try:
        return qos if qos.available else None
    except CloudError as error:
        LOG.warning("Could not find out yet whether the cloud has Neutron: %s", error)
        return qos


def _understood(method: Callable[P, None]) -> Callable[P, None]:
    """A method that raises NeutronError for answers with a status of 2xx that are not Neutron's."""

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(*args, **kwargs)
        except (LookupError, TypeError, AttributeError) as error:
            # As for Nova, see `errors.translated`.
            message = not_understood(method.__name__, "Neutron", "its endpoint", error)
            raise NeutronError(message) from error

    return call


class Qos:
    """Neutron as the manager needs it. Every method raises CloudError if Neutron fails or refuses.

    :param session: keystoneauth session of the manager's user, an administrator.
    :param options: group `[network]`.
    :param where: the region and the interfaces of Neutron's endpoint, as keystoneauth's adapters
        take them.
    """

    def __init__(self, session: Session, options: cfg.ConfigOpts.GroupAttr, **where: Any):
        self._session, self._options, self._where = session, options, where
        self._neutron = adapter.Adapter(session, service_type="network", version="2.0", **where)

    @functools.cached_property
    def available(self) -> bool:
        """Whether the catalog has a Neutron with the QoS extension."""
        # Other plugins have no catalog, and return their one endpoint for every service.
        catalog = isinstance(self._session.auth, BaseIdentityPlugin)
        if not (catalog and self._endpoint()):
            missing = "the catalog has no Neutron"
        elif self._ask("GET", "/extensions/qos", missing=True) is None:
            missing = "Neutron has no QoS"
        else:
            return True
        LOG.info("The bandwidth of jobs is counted but not enforced: %s", missing)
        return False

    @_understood
    def guarantee(self, job: "Job", servers: Iterable[Server]) -> None:
        """Put the job's policy on the servers' ports; makes the policy if needed."""
        ports = self._ports(servers) if self.available else []
        policy = self._policy(job) if ports else None
        for port in ports:
            if port.get("qos_policy_id") != policy:
                self._set_policy(port, policy)

    @_understood
    def withdraw(self, job: "Job", servers: Iterable[Server]) -> None:
        """Remove the job's policy from the servers' ports, and delete it.

        Duplicates are deleted, too: a late request may have made one. Neutron refuses to delete a
        policy while ports of vanishing servers still use it: repeat the call then.
        """
        policies = {policy["id"] for policy in self._policies(job)} if self.available else set()
        for port in self._ports(servers) if policies else ():
            if port.get("qos_policy_id") in policies:
                self._set_policy(port, None, missing=True)
        for policy in sorted(policies):
            self._ask("DELETE", f"/qos/policies/{policy}", missing=True)

    def _policy(self, job: "Job") -> str:
        """The id of the job's policy, made with all of its rules if needed.

        The rules come before the ports: Neutron adds no minimum to a policy in use.
        """
        found = self._policies(job)
        if not found:
            body = {"name": _name(job), "description": f"Bandwidth of job {job.uuid}"}
            found = [self._ask("POST", "/qos/policies", json={"policy": body})["policy"]]
        policy = min(found, key=lambda each: each["id"])
        there = {(rule["type"], rule["direction"]) for rule in policy["rules"]}
        for kind, rule in self._rules(1000 * job.mbps):
            if (kind, rule["direction"]) not in there:
                url = f"/qos/policies/{policy['id']}/{kind}_rules"
                self._ask("POST", url, json={f"{kind}_rule": rule})
        return policy["id"]

    def _rules(self, kbps: int) -> Iterator[tuple[str, dict]]:
        for direction in self._options.directions:
            yield "minimum_bandwidth", {"min_kbps": kbps, "direction": direction}
            if self._options.maximum:
                yield "bandwidth_limit", {"max_kbps": kbps, "direction": direction}

    def _policies(self, job: "Job") -> list[dict]:
        """The manager's policies with the job's name; others may use that name, too."""
        own = self._own_project()
        return list(self._listed("policies", "/qos/policies", name=_name(job), project_id=own))

    def _own_project(self) -> str | None:
        try:
            return self._session.get_project_id()
        except ksa_exc.ClientException as error:
            raise _no_answer(error) from error

    def _ports(self, servers: Iterable[Server]) -> list[dict]:
        ids = [server.id for server in servers]
        return [
            port
            for start in range(0, len(ids), AT_ONCE)
            for port in self._listed("ports", "/ports", device_id=ids[start : start + AT_ONCE])
        ]

    def _set_policy(self, port: dict, policy: str | None, missing: bool = False) -> None:
        body = {"port": {"qos_policy_id": policy}}
        self._ask("PUT", f"/ports/{port['id']}", missing=missing, json=body)

    def _endpoint(self) -> str | None:
        """Neutron's endpoint from the catalog, without a request to Neutron."""
        try:
            return self._session.get_endpoint(service_type="network", **self._where)
        except ksa_exc.EndpointNotFound:
            return None
        except ksa_exc.ClientException as error:
            raise _no_answer(error) from error

    def _listed(self, what: str, url: str, **query: Any) -> Iterator[dict]:
        while True:
            page = self._ask("GET", url, params=query)
            yield from page[what]
            if not any(link["rel"] == "next" for link in page.get(f"{what}_links", ())):
                return
            query["marker"] = page[what][-1]["id"]

    @overload
    def _ask(
        self, method: str, url: str, missing: Literal[False] = False, **request: Any
    ) -> dict[str, Any]: ...

    @overload
    def _ask(
        self, method: str, url: str, missing: bool, **request: Any
    ) -> dict[str, Any] | None: ...

    def _ask(
        self, method: str, url: str, missing: bool = False, **request: Any
    ) -> dict[str, Any] | None:
        """
        :param missing: what is not there is as good as done; the answer is None.
        """
        try:
            answer = self._neutron.request(url, method, raise_exc=False, **request)
        except ksa_exc.ClientException as error:
            raise _no_answer(error) from error
        if answer.ok:
            try:
                return answer.json() if answer.content else {}
            except ValueError as error:
                raise _no_answer(error) from error
        if missing and answer.status_code == HTTPStatus.NOT_FOUND:
            return None
        raise _refusal(answer, f"{method} {url}")


def _name(job: "Job") -> str:
    return f"twotier-{job.uuid}"


def _no_answer(error: Exception) -> NeutronError:
    if isinstance(error, ksa_exc.Unauthorized):
        return NeutronError(login_refused("Keystone", "nova"), error.http_status)
    return NeutronError(
        f"Neutron does not answer ({brief(error)})", getattr(error, "http_status", 0)
    )


def _refusal(answer: Response, request: str) -> NeutronError:
    if answer.status_code == HTTPStatus.UNAUTHORIZED:
        return NeutronError(login_refused("Neutron", "nova"), answer.status_code)
    try:
        error = answer.json()["NeutronError"]
        kind, text = error["type"], error["message"]
    except (ValueError, LookupError, TypeError):
        kind, text = "", answer.text
    message = f"Neutron refused {request}: {answer.status_code} {' '.join(text.split())}"
    return NeutronError(message, answer.status_code, kind)
