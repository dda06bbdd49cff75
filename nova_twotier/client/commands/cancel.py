"""`openstack twotier job cancel`: jobs that are named, or all that match."""

import functools
import sys
from collections import Counter

from osc_lib.exceptions import CommandError

from nova_twotier.client import arguments, arrays, columns, filters, names, tables
from nova_twotier.client.commands.job_requests import SHOWN
from nova_twotier.client.rest import MOST, MOST_UUIDS, Api, ApiError, is_uuid


class CancelJob(tables.Lister):
    """Cancel jobs: end them, or remove them from the queue"""

    # Each refusal is an error of its own, and the command says how many jobs it cancels.
    print_no_rows = False

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument("jobs", metavar="<job>", nargs="*", help=arrays.JOB_OR_ARRAY)
        filters.add(parser, filters.ACTIVE)
        parser.add_argument(
            "--all", action="store_true", help="all jobs of the project that are not over"
        )
        arguments.add_all_projects(parser, "with the other options: in all projects")
        return parser

    def take_action(self, parsed_args):
        self.refused = 0
        clients = self.app.client_manager
        selected = filters.chosen(clients, parsed_args)
        if parsed_args.all:
            selected["all"] = True
        if parsed_args.jobs and (selected or parsed_args.all_projects):
            raise CommandError("give either jobs or options that say which, not both")
        if parsed_args.jobs:
            cancelled = self._cancel_named(clients.twotier, parsed_args.jobs)
        elif selected:
            cancelled = self._cancel_selected(clients.twotier, selected, parsed_args.all_projects)
        else:
            raise CommandError(
                "say which jobs to cancel: their numbers or names, or --state, --qos, --name, "
                "--user, --pool, or --all"
            )
        return tuple(SHOWN), [columns.row(SHOWN, job) for job in cancelled]

    def _cancel_named(self, api: Api, words: list[str]) -> list[dict]:
        """Cancel jobs; of each that is refused, say why."""
        named: dict[str, str] = {}
        cancelled: list[dict] = []
        for word in words:
            try:
                if is_uuid(word):
                    named.setdefault(word.lower(), word)
                    continue
                found = arrays.find(api, word)
                if found.array:
                    refuse = functools.partial(self._refuse_word, word)
                    cancelled += arrays.ask(api, found.array, found.indexes, "cancel", refuse)
                elif found.job:
                    named.setdefault(found.job["uuid"], word)
            except ApiError as error:
                self._refuse_word(word, error)
        uuids = list(named)
        for start in range(0, len(uuids), MOST_UUIDS):
            batch = uuids[start : start + MOST_UUIDS]
            try:
                cancelled += self._cancel_batch(api, batch, named)
            except ApiError as error:
                more = ", ..." if len(batch) > MOST else ""
                which = ", ".join(named[uuid] for uuid in batch[:MOST])
                self._refuse(len(batch), f"{which}{more}: {error}")
        return cancelled

    def _cancel_batch(self, api: Api, uuids: list[str], named: dict[str, str]) -> list[dict]:
        if len(uuids) == 1:
            try:
                # Every release of the API can do this.
                return [api.cancel(uuids[0])]
            except ApiError as error:
                if error.status != 404 or not (tasks := _cancel_array(api, uuids[0])):
                    raise
                return tasks
        answer = api.cancel_many({"uuids": uuids})
        cancelled = answer["jobs"]
        for refusal in answer["refused"]:
            tasks = _cancel_array(api, refusal["uuid"]) if refusal["status"] == 404 else []
            if not tasks:
                self._refuse(1, f"{named[refusal['uuid']]}: {_told(refusal)}")
            cancelled += tasks
        return cancelled

    def _cancel_selected(self, api: Api, selected: dict, all_projects: bool | None) -> list[dict]:
        """Cancel the jobs that match, and say how many they are."""
        answer = api.cancel_many(selected, all_projects=all_projects)
        for why, count in Counter(map(_told, answer["refused"])).items():
            self._refuse(count, f"{columns.counted(count, 'job')} refused: {why}")
        if answer["jobs"]:
            said = f"{columns.counted(len(answer['jobs']), 'job')} to be cancelled"
        elif answer["refused"]:
            said = "no job is cancelled"
        else:
            names.check_pool(api, selected.get("pool"))
            said = "no job that is not over matches, so none is cancelled"
        print(said, file=sys.stderr)
        return answer["jobs"]

    def _refuse_word(self, word: str, why: object) -> None:
        self._refuse(1, f"{word}: {why}")

    def _refuse(self, count: int, text: str) -> None:
        self.refused += count
        self.log.error("%s", text)

    def run(self, parsed_args):
        super().run(parsed_args)
        return 1 if self.refused else 0


def _cancel_array(api: Api, uuid: str) -> list[dict]:
    """Cancel the tasks of an array; returns them, none if there is no such array."""
    try:
        return api.ask_tasks(api.array(uuid)["number"], "cancel")
    except ApiError:
        return []


def _told(refusal: dict) -> str:
    return f"{refusal['detail']} (HTTP {refusal['status']})"
