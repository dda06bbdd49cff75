"""Injects faults into fake hosts over HTTP: a cut network, a power failure, full image storage.

PUT /hosts/NAME {"state": STATE}, with STATE one of
  up      Nova hears of the host, and learns which of its guests are off
  silent  its nova-compute is not heard of; its guests run on
  off     that, and its guests have lost their power; the answer lists the servers that ran
PUT /images {"accepted": BOOL, "seconds": NUMBER}  whether uploads succeed, and what each takes
PUT /cell {"answers": BOOL}  whether the database of the cell is there for the API
PUT /conductor {"deaths": N}  how many of the next requests to boot servers are left half done, as
by a nova-conductor that dies; the answer says how many are still to come
"""

import json
import time
from collections.abc import Mapping
from http import HTTPStatus

from nova import context as nova_context
from nova.compute import power_state
from nova.conductor.manager import ComputeTaskManager
from nova.db.main import api as database
from nova.servicegroup.drivers.db import DbDriver

from nova_twotier.tools.fakecloud import driver

#: Nobody can make a file there: as with a database server that is down, each query fails.
NOWHERE = "sqlite:////nonexistent/cell.sqlite"


class Control:
    """The WSGI application.

    Made before the services start, which then use what it changes in Nova.

    :param computes: `nova.service.Service` of each host's nova-compute, by its name.
    """

    def __init__(self, computes: Mapping):
        self._computes = computes
        self._silent: set[str] = set()
        self._off: set[str] = set()
        self._cell_answers = True
        self._deaths = 0
        self._nowhere = database.create_context_manager(NOWHERE)
        self._withhold_heartbeats()
        self._cut_off_cell()
        self._leave_boots_half_done()

    def __call__(self, environ, start_response):
        body = json.loads(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
        match environ["PATH_INFO"].strip("/").split("/"):
            case ["hosts", host] if host in self._computes:
                answer = self._host(host, body["state"])
            case ["images"]:
                driver.UPLOADS.accepted = body["accepted"]
                driver.UPLOADS.seconds = body["seconds"]
                answer = {}
            case ["cell"]:
                self._cell_answers = body["answers"]
                answer = {}
            case ["conductor"]:
                self._deaths = body.get("deaths", self._deaths)
                answer = {"deaths": self._deaths}
            case _:
                start_response(f"404 {HTTPStatus.NOT_FOUND.phrase}", [("Content-Length", "0")])
                return []
        payload = json.dumps(answer).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(payload)))]
        start_response("200 OK", headers)
        return [payload]

    def _host(self, host: str, state: str) -> dict:
        manager = self._computes[host].manager
        if state == "up":
            self._silent.discard(host)
            context = nova_context.get_admin_context()
            if host in self._off:
                self._off.discard(host)
                manager.driver.booted_at = time.time()
                # As a nova-compute does when it starts.
                manager._destroy_evacuated_instances(context, manager._get_nodes(context))
            manager._sync_power_states(context)
            return {}
        self._silent.add(host)
        if state == "silent":
            return {}
        self._off.add(host)
        guests = manager.driver.instances
        ran = [uuid for uuid, guest in guests.items() if guest.state == power_state.RUNNING]
        for uuid in ran:
            guests[uuid].state = power_state.SHUTDOWN
        return {"servers": ran}

    def _withhold_heartbeats(self) -> None:
        report = DbDriver._report_state

        def unless_silent(group, service):
            if service.host not in self._silent:
                report(group, service)

        DbDriver._report_state = unless_silent

    def _cut_off_cell(self) -> None:
        """The computes, in this very process, go on to reach the database: they target no cell."""
        target = nova_context.set_target_cell

        def unless_down(context, cell_mapping):
            target(context, cell_mapping)
            if cell_mapping and not cell_mapping.is_cell0() and not self._cell_answers:
                context.db_connection = self._nowhere

        nova_context.set_target_cell = unless_down

    def _leave_boots_half_done(self) -> None:
        """The servers of a request exist in the cell before the first one is mapped to it."""
        map_to_cell = ComputeTaskManager._map_instance_to_cell

        def unless_dead(context, instance, cell):
            if self._deaths:
                self._deaths -= 1
                raise RuntimeError("nova-conductor died")
            return map_to_cell(context, instance, cell)

        ComputeTaskManager._map_instance_to_cell = staticmethod(unless_dead)
