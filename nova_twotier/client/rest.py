"""The REST API as Python calls."""

import re
import uuid
from collections.abc import Iterator
from itertools import islice

from nova_twotier.client.connection import ApiError, Connection, UnknownField, written

__all__ = ["Api", "ApiError", "TasksOfArray", "UnknownField", "is_uuid"]

#: What may be a job's number, or a task such as 12_3, and what the beginning of its uuid.
_NUMBER = re.compile("[0-9]+(_[0-9]+)?")
_BEGINNING = re.compile("[0-9a-f-]{4,36}", re.IGNORECASE)
#: Most uuids in one request.
MOST_UUIDS = 1000

#: Most jobs to show if a name is ambiguous.
MOST = 5

#: Final states of a job.
OVER = ("finished", "failed", "cancelled")


class TasksOfArray(ApiError):
    """A name is that of the tasks of one array.

    :ivar array: the number of the array.
    """

    def __init__(self, name: str, count: int, array: int, index: int):
        super().__init__(
            f"{count:,} tasks of array {array} are called {name!r}: give one, such as "
            f"{array}_{index}",
            409,
        )
        self.array = array


class Api(Connection):
    """The REST API. Every method raises ApiError if the API refuses or does not answer."""

    def submit(self, request: dict) -> dict:
        """Submit a job.

        :param request: the body of `POST /v1/jobs`; None values are left out.
        """
        return self._submit("/v1/jobs", request)

    def jobs(self, limit: int | None = None, **filters) -> Iterator[dict]:
        """All jobs, or the first `limit`; filters are the query parameters of the list."""
        return self._pages("/v1/jobs", ("jobs",), limit, filters)

    def find(self, text: str) -> dict:
        """The job with this number, uuid, name, or beginning of its uuid.

        Of several jobs with the name, the one that is not over. A name counts before a beginning.

        :raises ApiError: if it is the number of one job and the name of another, too.
        """
        if not text.strip():
            # Not the job without a name: it is more likely that a variable of a script is empty.
            raise ApiError("an empty text names no job: give a number, a name or a uuid", 404)
        if is_uuid(text):
            return self.job(text)
        numbered = self._job_if_any(text) if _NUMBER.fullmatch(text) else None
        called = self._called(text)
        if numbered and called and numbered["uuid"] != called["uuid"]:
            raise ApiError(
                f"{text} is the number of one job and the name of another: give the uuid of one, "
                f"{numbered['uuid']}, {called['uuid']}",
                409,
            )
        found = numbered or called
        if found is None and _BEGINNING.fullmatch(text):
            found = self._job_if_any(text)
        if found is None:
            raise ApiError(f"there is no job {text!r} in your project", 404)
        return found

    def _job_if_any(self, reference: str) -> dict | None:
        try:
            return self.job(reference)
        except ApiError as error:
            if error.status != 404:
                raise
            return None

    def _called(self, name: str) -> dict | None:
        """The job with this name; if several jobs or arrays have it, the one that is not over.

        :raises TasksOfArray: if it is an array with several tasks of that name.
        """
        found: dict[int | str, list[dict]] = {}
        for job in self.jobs(name=name):
            # An API of an earlier release has no numbers.
            own = job.get("number", job["uuid"])
            number = job["array"]["number"] if job.get("array") else own
            found.setdefault(number, []).append(job)
        if len(found) > 1:
            still = (each for each in found.items() if any(j["state"] not in OVER for j in each[1]))
            found = dict(still) or found
        if len(found) > 1:
            numbers = ", ".join(map(str, islice(found, MOST)))
            more = ", ..." if len(found) > MOST else ""
            raise ApiError(
                f"{len(found)} jobs are called {name!r}: give the number of one, {numbers}{more}",
                409,
            )
        for number, jobs in found.items():
            if len(jobs) > 1:
                raise TasksOfArray(name, len(jobs), number, jobs[0]["array"]["index"])
            # A list lacks some of its fields.
            return self.job(jobs[0]["uuid"])
        return None

    def submit_array(self, request: dict) -> dict:
        """Submit a job array.

        :param request: the body of `POST /v1/arrays`; None values are left out.
        """
        return self._submit("/v1/arrays", request)

    def array(self, reference: str) -> dict:
        """
        :param reference: number or uuid.
        """
        return self._ask("GET", f"/v1/arrays/{reference}")

    def change_array(self, number: int, change: dict) -> dict:
        """Change an array, and its tasks that have not started.

        :param change: the body of `PATCH /v1/arrays/{array}`; a None unsets what it names.
        """
        return self._ask("PATCH", f"/v1/arrays/{number}", json=change)

    def ask_tasks(self, number: int, action: str, indexes: str | None = None) -> list[dict]:
        """Ask something of the tasks of an array that are not over; returns those.

        :param action: cancel, complete, hold, release or requeue.
        :param indexes: only of these.
        """
        asked = {"action": action} | ({"indexes": indexes} if indexes else {})
        return self._ask("POST", f"/v1/arrays/{number}/actions", json=asked)["jobs"]

    def job(self, reference: str) -> dict:
        """
        :param reference: number, uuid, or beginning of the uuid.
        """
        return self._ask("GET", f"/v1/jobs/{reference}")

    def explain(self, uuid: str) -> dict:
        return self._ask("GET", f"/v1/jobs/{uuid}/explain")

    def cancel(self, uuid: str) -> dict:
        return self._ask("DELETE", f"/v1/jobs/{uuid}")

    def cancel_many(self, selection: dict, **query) -> dict:
        """Cancel the jobs that match a selection, the body of `POST /v1/jobs/cancel`.

        :returns: `jobs` that will be cancelled, and `refused` ones.
        """
        return self._ask("POST", "/v1/jobs/cancel", json=selection, params=written(query))

    def complete(self, uuid: str) -> dict:
        return self._ask("POST", f"/v1/jobs/{uuid}/complete")

    def hold(self, uuid: str) -> dict:
        return self._ask("POST", f"/v1/jobs/{uuid}/hold")

    def release(self, uuid: str) -> dict:
        return self._ask("POST", f"/v1/jobs/{uuid}/release")

    def requeue(self, uuid: str) -> dict:
        return self._ask("POST", f"/v1/jobs/{uuid}/requeue")

    def change_job(self, uuid: str, change: dict) -> dict:
        """Change a job.

        :param change: the body of `PATCH /v1/jobs/{uuid}`; a None unsets what it names.
        """
        return self._ask("PATCH", f"/v1/jobs/{uuid}", json=change)

    def queue(self, **query) -> dict:
        return self._ask("GET", "/v1/queue", params=written(query))

    def change_queue(self, change: dict, **query) -> dict:
        return self._ask("PATCH", "/v1/queue", json=change, params=written(query))

    def pools(self) -> list[dict]:
        return self._ask("GET", "/v1/pools")["pools"]

    def hosts(self, **query) -> list[dict]:
        return self._ask("GET", "/v1/hosts", params=written(query))["hosts"]

    def drain(self, host: str, change: dict) -> dict:
        """Drain a host, or change its drain.

        :param change: of the body of `POST /v1/hosts/drain`; an `ends_at` of None unsets it.
        """
        return self._ask("POST", "/v1/hosts/drain", json={"host": host, **change})

    def undrain(self, host: str) -> dict:
        return self._ask("POST", "/v1/hosts/undrain", json={"host": host})

    def topology(self, **query) -> dict:
        return self._ask("GET", "/v1/topology", params=written(query))

    def usage(self, **query) -> dict:
        return self._ask("GET", "/v1/usage", params=written(query))

    def utilisation(self, **query) -> dict:
        return self._ask("GET", "/v1/utilisation", params=written(query))

    def schedule(self, **filters) -> Iterator[dict]:
        """The recorded stays in a window, then the predicted ones, which have no `host`."""
        return self._pages("/v1/schedule", ("stays", "predicted"), None, filters)

    def events(self, limit: int | None = None, **filters) -> Iterator[dict]:
        """All events, oldest first, or the first `limit`."""
        return self._pages("/v1/events", ("events",), limit, filters)

    def version(self) -> dict:
        """Get the version document of the API, which needs no token."""
        return self._ask("GET", "/v1")["version"]


def is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False
