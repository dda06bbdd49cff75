"""Reads Nova: servers, hosts, flavors, migrations; all pages of each, of all projects.

It reads the JSON of the API itself, since novaclient does not know the microversion that shows
scheduler hints.
"""

import time
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1.session import Session
from requests import Response

from nova_twotier.cloud import aggregates, server_groups
from nova_twotier.cloud.compute_hosts import HostNames
from nova_twotier.cloud.errors import CloudError, no_answer
from nova_twotier.cloud.instance_actions import uptime_seconds
from nova_twotier.cloud.sessions import SILENT
from nova_twotier.ledger.placement import login_refused
from nova_twotier.ledger.shape import Shape

#: Every supported Nova has it. From here on, the host that a live migration or an unshelve names
#: passes the scheduler's filters.
MICROVERSION = "2.91"
#: The first microversion that shows a server's scheduler hints.
HINTS_MICROVERSION = "2.100"
#: Lists hypervisors without asking each nova-compute for its uptime, as 2.88 and later may.
HYPERVISORS_MICROVERSION = "2.87"
#: The last microversion with Nova's view of images, which needs no endpoint or rights of Glance.
IMAGES_MICROVERSION = "2.35"

Document = dict[str, Any]


class Reader:
    """Nova's API, reading only. Every method raises CloudError if Nova does not answer.

    :param session: keystoneauth session of an administrator.
    :param options: adapter options, such as `region_name` or `endpoint_override`.
    """

    def __init__(self, session: Session, **options: Any):
        options = {"service_type": "compute", **options, "logger": SILENT}
        self._adapter = adapter.Adapter(session, **options)
        self._hints_microversion = HINTS_MICROVERSION
        #: For how many servers a page has room, at least.
        self._room = 0

    def servers(self, hints: bool = False) -> list[Document]:
        """Servers of all projects, see `each_server`."""
        return list(self.each_server(hints=hints))

    def each_server(self, changed_since: str = "", hints: bool = False) -> Iterator[Document]:
        """Servers of all projects; not the soft-deleted ones. One may be listed more than once.

        They are read page by page, as they are asked for.

        Servers of a cell that is down are listed with little more than their status, UNKNOWN, but
        only if the others leave room on the first page, and not in a listing of changes. `server`
        shows each of them.

        :param changed_since: only those that changed, or were deleted, since this time (ISO 8601).
        :param hints: with their scheduler hints, if this Nova shows them.
        """
        query = {"all_tenants": "1"}
        if changed_since:
            query["changes-since"] = changed_since

        def is_last(page: list[Document]) -> bool:
            # Nova leaves out what is both a build request and a server, and has counted it twice.
            counted = len(page) + sum(server.get("status") == "BUILD" for server in page)
            self._room = max(self._room, len(page))
            # A list of all is always read to its end: `[api]max_limit` may have become smaller.
            return bool(changed_since) and counted < self._room

        return self._pages("servers/detail", query, hints=hints, is_last=is_last)

    def server(self, uuid: str, hints: bool = False) -> Document | None:
        """One server, soft-deleted or not; None only if Nova itself says that there is none.

        If its cell is down it has little more than its status, UNKNOWN.

        :param hints: with its scheduler hints, if this Nova shows them.
        """
        url = f"/servers/{uuid}"
        answer = self._answer(url, hints=hints)
        if answer.status_code == 404 and _says_not_found(answer):
            return None
        return _decoded(answer, url)["server"]

    def instance_actions(self, server: str) -> list[Document]:
        """What was done to a server, newest first."""
        path = f"servers/{server}/os-instance-actions"
        return list(self._pages(path, {}, marker="request_id", name="instanceActions"))

    def latest_action(self, server: str, name: str) -> tuple[Document | None, float]:
        """The newest action of a name in a server's log, with its events; and Nova's time.

        None if there is none.
        """
        log = self.instance_actions(server)
        request = next((each["request_id"] for each in log if each["action"] == name), None)
        if request is None:
            return None, time.time()
        url = f"/servers/{server}/os-instance-actions/{request}"
        answer = self._answer(url)
        return _decoded(answer, url)["instanceAction"], _time_of(answer)

    def booted_at(self, hypervisor: str) -> float | None:
        """When a host was last booted, by Nova's clock: up to a minute too late.

        It is computed from `uptime` there, which Nova gets from the nova-compute. None if there is
        no such host, or its driver reports no uptime: only libvirt and z/VM do.

        :param hypervisor: its name.
        :raises CloudError: also if the nova-compute is down: it may answer later.
        """
        query = urlencode({"hypervisor_hostname_pattern": hypervisor})
        answer = self._answer(f"/os-hypervisors?{query}")
        if answer.status_code == 404 and _says_not_found(answer):
            return None
        # The pattern also matches longer names.
        for found in _decoded(answer, "/os-hypervisors")["hypervisors"]:
            if found["hypervisor_hostname"] == hypervisor:
                return self._booted_at(f"/os-hypervisors/{found['id']}")
        return None

    def _booted_at(self, url: str) -> float | None:
        answer = self._answer(url)
        shown = _decoded(answer, url)["hypervisor"]
        uptime = uptime_seconds(shown["uptime"] or "")
        if uptime is not None:
            return _time_of(answer) - uptime
        if shown["state"] != "up":
            raise CloudError(f"{shown['hypervisor_hostname']} is down: it cannot say its uptime")
        return None

    def migrations(self, server: str = "") -> list[Document]:
        """All migrations that Nova has a record of, or those of one server."""
        query = {"instance_uuid": server} if server else {}
        return list(self._pages("os-migrations", query, marker="uuid"))

    def flavors(self) -> list[Document]:
        """All flavors, private ones too, with their extra specs."""
        return list(self._pages("flavors/detail", {"is_public": "None"}))

    def image(self, uuid: str) -> Document | None:
        """An image with its properties as `metadata`; None if there is none, or Nova shows none."""
        url = f"/images/{uuid}"
        answer = self._answer(url, IMAGES_MICROVERSION)
        return None if answer.status_code == 404 else _decoded(answer, url)["image"]

    def find(self, url: str, microversion: str) -> Document | None:
        """Get the document at a URL; None only if Nova itself, and no proxy, answers 404."""
        answer = self._answer(url, microversion)
        if answer.status_code == 404 and _says_not_found(answer):
            return None
        return _decoded(answer, url)

    def limits(self) -> Document:
        """The limits of the project that asks."""
        return self._get("/limits")["limits"]

    def server_groups(self) -> list[Document]:
        """Server groups of all projects."""

        def read(offset: int) -> list[Document]:
            url = f"/os-server-groups?all_projects=True&offset={offset}"
            return self._get(url)["server_groups"]

        return list(server_groups.listed(read))

    def computes(self) -> dict[str, Document]:
        """List the nova-compute services, by host; Nova returns all of them on one page.

        Those of a cell that is down have the status UNKNOWN, and no state.
        """
        services = self._get("/os-services?binary=nova-compute")["services"]
        return {service["host"]: service for service in services}

    def conductors_are_up(self) -> bool:
        """Whether all nova-conductors send heartbeats, but those that operators took out of use."""
        services = self._get("/os-services?binary=nova-conductor")["services"]
        states = [
            service["state"]
            for service in services
            if service["status"] == "enabled" and not service.get("forced_down")
        ]
        return bool(states) and all(state == "up" for state in states)

    def host_names(self) -> HostNames:
        """The names of all hosts of nova-compute. Nova refuses this while a cell is down."""
        return HostNames(
            {
                hypervisor["service"]["host"]: hypervisor["hypervisor_hostname"]
                for hypervisor in self._pages("os-hypervisors/detail", {}, HYPERVISORS_MICROVERSION)
            }
        )

    def aggregates(self) -> list[Document]:
        """All host aggregates; Nova lists them on one page."""
        return self._get("/os-aggregates")["aggregates"]

    def shapes(self, names: HostNames | None = None) -> tuple[dict[str, Shape], list[str]]:
        """The hosts of aggregates with `twotier:slots`, by their hypervisors' names.

        Also a message about each error, see `aggregates.shapes`.

        :param names: as read before; they are read if they are not given.
        """
        found, problems = aggregates.shapes(self.aggregates())
        if not found:
            return {}, problems
        names = names or self.host_names()
        return {names.hypervisor(host): shape for host, shape in found.items()}, problems

    def _pages(
        self,
        path: str,
        query: dict[str, str],
        microversion: str = MICROVERSION,
        marker: str = "id",
        hints: bool = False,
        name: str = "",
        is_last: Callable[[list[Document]], bool] = lambda _page: False,
    ) -> Iterator[Document]:
        """Read a collection page by page, and yield its items.

        A page without a link to the next one may not be the last: Nova counts a page before it
        leaves out duplicates and hypervisors without a service, and gives no link then.

        Nova refuses a marker that it does not know: an item that was deleted since, or a server
        that it has forgotten. The page after the item before that one is read then. If Nova knows
        none of them, that was the last page, unless it had a link: then the list fails.

        :param marker: the key of the item by which the next page is requested.
        :param name: of the collection in the answer, if it is not the path's first part without
            the prefix of an extension.
        :param is_last: whether a page without such a link is certainly the last one, so that no
            further page is requested. It is asked of each page.
        """
        name = name or path.partition("/")[0].removeprefix("os-")
        seen: set[str] = set()
        markers: list[str] = []
        linked = True
        while True:
            if markers:
                query = {**query, "marker": markers.pop()}
            url = f"/{path}?{urlencode(query)}" if query else f"/{path}"
            got = self._answer(url, microversion, hints)
            if _says_marker_not_found(got):
                if markers:
                    continue
                if not linked:
                    return
            # A 404 for a collection does not mean that it is empty: it is not Nova that answered.
            answer = _decoded(got, url)
            page = answer[name]
            yield from page
            linked = f"{name}_links" in answer
            if is_last(page) and not linked:
                return
            # There is no page after a server of a cell that is down. Nova puts them first.
            markers = [each[marker] for each in page if each.get("status") != "UNKNOWN"]
            if seen.issuperset(markers):
                return
            seen.update(markers)

    def _get(self, url: str) -> Document:
        return _decoded(self._answer(url), url)

    def _answer(self, url: str, microversion: str = MICROVERSION, hints: bool = False) -> Response:
        """:raises CloudError: if Nova does not answer."""
        try:
            if not hints:
                return self._request(url, microversion)
            answer = self._request(url, self._hints_microversion)
            if answer.status_code == 406 and self._hints_microversion == HINTS_MICROVERSION:
                self._hints_microversion = MICROVERSION
                answer = self._request(url, MICROVERSION)
            return answer
        except ksa_exc.ClientException as error:
            raise no_answer(error) from error

    def _request(self, url: str, microversion: str) -> Response:
        return self._adapter.get(
            url,
            raise_exc=False,
            headers={"OpenStack-API-Version": f"compute {microversion}"},
        )


def _time_of(answer: Response) -> float:
    """When Nova answered, by its own clock, as its other times are."""
    # Some WSGI servers do not tell it.
    date = answer.headers.get("Date")
    return parsedate_to_datetime(date).timestamp() if date else time.time()


def _decoded(answer: Response, url: str) -> Document:
    """:raises CloudError: if Nova refused, or it is not Nova that answered."""
    if not answer.ok:
        status = answer.status_code
        if status == HTTPStatus.UNAUTHORIZED:
            raise CloudError(login_refused("Nova", "nova"), status)
        look = "is [nova] right?" if status < 500 else "see nova-api's log; are all cells up?"
        raise CloudError(f"Nova refused GET {url}: {status} {_text(answer)}; {look}", status)
    try:
        return answer.json()
    except ValueError as error:
        raise CloudError(f"GET {url} was answered without JSON: is [nova] right?") from error


def _text(answer: Response) -> str:
    """The message of an error in one line: Nova's, or the whole answer of others."""
    try:
        [(_kind, said)] = answer.json().items()
        text = said["message"]
    except (ValueError, LookupError, TypeError, AttributeError):
        text = answer.text
    return " ".join(str(text).split())


def _says_marker_not_found(answer: Response) -> bool:
    return answer.status_code == HTTPStatus.BAD_REQUEST and "marker" in _text(answer)


def _says_not_found(answer: Response) -> bool:
    """Whether a 404 is Nova's own, and not that of a proxy before it."""
    try:
        return "itemNotFound" in answer.json()
    except (ValueError, TypeError):
        return False
