"""`openstack twotier job create`."""

import shlex
import sys

from osc_lib.exceptions import CommandError

from nova_twotier.client import (
    arguments,
    arrays,
    brief,
    columns,
    names,
    peers,
    progress,
    rest,
    trace,
    userdata,
)
from nova_twotier.client.commands import gates

PREEMPTIONS = ("shelve", "suspend", "requeue")
#: Instead of a class of service: those that the trace gives its jobs.
TRACE = "trace"


class CreateJob(brief.ShowBriefly):
    """Submit a job: processes, each in a server of its own, that start and end together"""

    #: Whether the user knows that the API is of an earlier release.
    told = False
    #: How the job ended that was waited for, if it did not succeed.
    failure: str | None = None

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument(
            "--size",
            type=arguments.whole,
            metavar="<n>",
            help="processes, and so servers, such as 4",
        )
        what.add_argument(
            "--from-swf",
            metavar="<file>",
            help="submit every job of a trace in the Standard Workload Format (.gz too), now, in "
            "the order of their arrival; the other options hold for all of them. Unless they get a "
            "script or user data, their servers idle as long as the job ran, then power off. "
            "Nothing is submitted if a line is wrong",
        )
        parser.add_argument(
            "--array",
            type=arrays.request,
            metavar="<indexes>[%<n>]",
            help="submit a job for each index, such as 0-99, 1,3,5 or 0-98:2; with %%8 after it, "
            "at most 8 of them are in the queue, or run, at the same time. The script's variable "
            "TWOTIER_ARRAY_INDEX is the index",
        )
        parser.add_argument(
            "--name",
            metavar="<name>",
            help="a name for people; of a trace, what its names begin "
            "with (default: the name of the file)",
        )
        _add_resources(parser)
        _add_servers(parser)
        _add_conduct(parser)
        gates.add(parser)
        parser.add_argument(
            "--wait",
            nargs="?",
            const=progress.STARTED,
            choices=(progress.STARTED, progress.FINISHED),
            help="wait until the job has started (the default) or finished, and show what it "
            "waits for; the exit code is 1 if it failed or was cancelled",
        )
        return parser

    def take_action(self, parsed_args):
        api = self.app.client_manager.twotier
        try:
            if parsed_args.from_swf is not None:
                done = self._submit_trace(api, parsed_args)
                self.line = _submitted(done)
                return columns.one(done)
            request = {"size": parsed_args.size, **self._request(parsed_args)}
            if parsed_args.array:
                return columns.one(self._submit_array(api, request, parsed_args))
            job = self._submit(api, request)
        except ValueError as error:
            raise CommandError(str(error)) from error
        if parsed_args.wait:
            job = self._await(api, job, parsed_args.wait)
        if self.brief:
            self.line = brief.state(api, job)
        return columns.one(columns.with_expectations(job))

    def _submit_array(self, api: rest.Api, request: dict, parsed_args) -> dict:
        try:
            array = api.submit_array({**request, **parsed_args.array})
        except rest.ApiError as error:
            if error.status == 404:
                raise CommandError("the twotier API is of a release without job arrays") from error
            raise
        self.line = arrays.submitted(array, bool(parsed_args.held))
        if parsed_args.wait:
            print(f"{arrays.label(array)} is submitted", file=sys.stderr, flush=True)
            array = arrays.follow(api, array, parsed_args.wait)
            self._fail(arrays.failure(array))
            self.line = f"A{arrays.label(array)[1:]} is {array['state']}: {arrays.counts(array)}."
        return array

    def _request(self, parsed_args) -> dict:
        """The request that the options describe.

        :raises ValueError: if a name or a file is not there.
        """
        clients = self.app.client_manager
        given = {
            name: getattr(parsed_args, name)
            for name in (
                "name",
                "cpu",
                "bandwidth",
                "estimate",
                "walltime",
                "pool",
                "key_name",
                "preemption",
                "checkpoint",
                "retries",
                "qos",
                "keep_servers",
                "held",
                "priority",
            )
        }
        if parsed_args.qos == TRACE:
            if parsed_args.from_swf is None:
                raise ValueError("--qos trace is for --from-swf")
            given["qos"] = None  # each job has its own
        if parsed_args.flavor is not None:
            given["flavor"] = names.flavor_name(clients, parsed_args.flavor)
        if parsed_args.image is not None:
            given["image"] = names.image_id(clients, parsed_args.image)
        if parsed_args.networks is not None:
            given["networks"] = names.networks(clients, parsed_args.networks)
        if parsed_args.user_data is not None:
            given["user_data"] = userdata.fitting(userdata.read(parsed_args.user_data), "file")
        if parsed_args.script is not None:
            given["report_token"] = token = userdata.new_token()
            content = userdata.read(parsed_args.script)
            saves = bool(parsed_args.checkpoint)
            script = userdata.of_script(content, token, saves, peers.Guest())
            given["peers"] = True
            given["user_data"] = userdata.fitting(script, "script")
        if (parsed_args.webhook is None) != (parsed_args.webhook_secret is None):
            raise ValueError("--webhook and --webhook-secret go together")
        if parsed_args.webhook is not None:
            given["webhook"] = parsed_args.webhook
            key = userdata.read(parsed_args.webhook_secret)
            given["webhook_secret"] = key.decode("ascii", "replace").strip()
        given |= gates.given(clients.twotier, parsed_args)
        return {name: value for name, value in given.items() if value is not None}

    def _submit_trace(self, api: rest.Api, parsed_args) -> dict:
        """Submit every job of a trace; returns how many there were.

        :raises ValueError: before anything is submitted.
        :raises KeyboardInterrupt: after it has been said how many are submitted.
        """
        if parsed_args.array:
            raise ValueError("--array is for one job, not for a trace")
        if parsed_args.wait:
            raise ValueError("--wait is for one job, not for a trace: see job list")
        path = parsed_args.from_swf
        classes = parsed_args.qos == TRACE
        requests, left_out = trace.requests(path, parsed_args.name, classes)
        if classes:
            _check_classes(api, requests, parsed_args.pool)
        given = self._request(parsed_args)
        given.pop("name", None)
        if "user_data" in given:
            given.setdefault("report_token", None)
        with progress.bar(len(requests), "job", self.app_args) as shown:
            for count, request in enumerate(requests):
                try:
                    self._submit(api, {**request, **given})
                except rest.ApiError as error:
                    done = _so_far(count, requests)
                    raise CommandError(f"{request['name']}: {error}; {done}") from error
                except KeyboardInterrupt:
                    print(f"interrupted; {_so_far(count, requests)}", file=sys.stderr, flush=True)
                    raise
                shown.update()
        return {
            "trace": path,
            "jobs": len(requests),
            "processes": sum(request["size"] for request in requests),
            "left_out": left_out,
        }

    def _submit(self, api: rest.Api, request: dict) -> dict:
        """Submit a job, also to an API of a release that tells the guests nothing of each other."""
        if self.told:
            request.pop("peers", None)
        try:
            return api.submit(request)
        except rest.UnknownField as error:
            if error.field != "peers":
                raise rest.ApiError(
                    f"{error.field!r} is not known: the API is of an earlier release than this "
                    f"client; leave out what needs {error.field}, or ask your operator to upgrade "
                    "it",
                    error.status,
                ) from error
        request.pop("peers")
        job = api.submit(request)
        self.told = True
        self.log.warning(
            "The API is of an earlier release: the script knows its TWOTIER_RANK and "
            "TWOTIER_JOB_ID, but neither the other variables nor the addresses of the others"
        )
        return job

    def _await(self, api: rest.Api, job: dict, until: str) -> dict:
        print(f"{columns.label(job)} is submitted", file=sys.stderr, flush=True)
        job = progress.follow(api, job, until, sys.stderr)
        self._fail(progress.failure(job))
        return job

    def _fail(self, failure: str | None) -> None:
        """Fail if the job has: at once, or when a program has got the job in its format.

        :raises CommandError: at once, since the error tells people as much as the line would.
        """
        if failure and self.brief:
            raise CommandError(failure)
        self.failure = failure

    def run(self, parsed_args):
        code = super().run(parsed_args)
        if self.failure:
            raise CommandError(self.failure)
        return code


def _check_classes(api: rest.Api, requests: list[dict], pool: str | None) -> None:
    """
    :raises ValueError: if the jobs may not have their classes of service.
    """
    allowed = api.queue(pool=pool).get("qos_allowed", [])
    if wrong := sorted({request["qos"] for request in requests}.difference(allowed)):
        raise ValueError(
            f"the trace has {' and '.join(wrong)} jobs, which you may not submit: queue show says "
            "which you may (qos_allowed)"
        )


def _so_far(count: int, requests: list[dict]) -> str:
    """How many jobs of a trace are submitted, and how to cancel them."""
    said = f"{count} of {len(requests)} jobs are submitted"
    if not count:
        return said
    names = f"{requests[0]['name'].rpartition('-')[0]}-*"
    return f"{said}; to cancel them: openstack twotier job cancel --name {shlex.quote(names)}"


def _submitted(done: dict) -> str:
    """In a sentence, what was submitted of a trace."""
    jobs = columns.counted(done["jobs"], "job")
    servers = columns.counted(done["processes"], "server")
    left_out = f"; {done['left_out']:,} left out" if done["left_out"] else ""
    return f"Submitted {jobs} with {servers} from {done['trace']}{left_out}."


def _add_resources(parser) -> None:
    group = parser.add_argument_group("what it needs")
    group.add_argument(
        "--cpu",
        type=arguments.cpu,
        metavar="<u>[,<u>...]",
        help="CPU utilisation, 0 to 1, of every process, or of each, such as 0.6 or 0.9,0.4. With "
        "0.96 or more, nothing runs beside it in the background (default: unknown, which counts "
        "as 0.7 until it is measured)",
    )
    group.add_argument(
        "--bandwidth",
        type=arguments.mbps,
        metavar="<mbps>",
        help="Mbit/s that every process may exchange with the others, such as 100: reserved on the "
        "network's links; under a policy without such reservations the job waits (default: 0)",
    )
    group.add_argument(
        "--estimate",
        type=arguments.run_time,
        metavar="<time>",
        help="expected run time: seconds, or a time such as 90m, 2h, 1:30:00",
    )
    group.add_argument(
        "--walltime",
        type=arguments.run_time,
        metavar="<time>",
        help="longest run time, summed over its runs since it last began anew; then it is stopped",
    )
    group.add_argument("--pool", metavar="<pool>", help="pool of hosts (default: the default one)")


def _add_servers(parser) -> None:
    group = parser.add_argument_group("its servers")
    for option, text in (("flavor", "flavor"), ("image", "image")):
        group.add_argument(
            f"--{option}",
            metavar=f"<{option}>",
            help=f"{text}, by name or id (default: the site's)",
        )
    group.add_argument(
        "--network",
        dest="networks",
        action="append",
        metavar="<network>",
        help="network, by name or id, or none, or auto; repeat for several (default: the site's)",
    )
    group.add_argument("--key-name", metavar="<key>", help="keypair, by name")
    data = group.add_mutually_exclusive_group()
    data.add_argument(
        "--script",
        metavar="<file>",
        help="batch script. It becomes user data with which cloud-init runs it in every server, as "
        "root, and powers the server off at its end. When all have ended the job is finished, or "
        "failed if an exit status is not 0: see job show. After a preemption by shelve the server "
        "boots again and the script runs again, so let it look for what it has saved. "
        "Variables such as TWOTIER_RANK tell it which process it is",
    )
    data.add_argument(
        "--user-data", metavar="<file>", help="user data of the servers, passed to Nova unchanged"
    )
    group.add_argument(
        "--keep-servers",
        action="store_true",
        default=None,
        help="keep the servers, shelved, when the job has ended (default: delete them)",
    )


def _add_conduct(parser) -> None:
    group = parser.add_argument_group("how it is treated")
    group.add_argument(
        "--qos",
        choices=[*arguments.CLASSES, TRACE],
        help="urgent: ahead of all others, if you may; scavenger: in the background only, and "
        "preempted as soon as another job could start there without it; trace: with --from-swf, "
        "that of each job's queue, as lines such as '; Queue: 1 urgent' of its header say "
        "(default: normal)",
    )
    group.add_argument(
        "--preemption",
        choices=PREEMPTIONS,
        help="what happens when it must make room: shelve keeps its disks, suspend its memory, "
        "too; requeue keeps nothing, it begins anew (default: shelve)",
    )
    group.add_argument(
        "--checkpoint",
        action="store_true",
        default=None,
        help="its guests save their state when they are shut down: policies that kill jobs "
        "preempt it as --preemption says instead",
    )
    group.add_argument(
        "--retries",
        type=arguments.whole_or_zero,
        metavar="<n>",
        help="how often it begins anew after its servers or their host broke (default: the site's)",
    )
    group.add_argument(
        "--priority", type=arguments.priority, metavar="<n>", help=arguments.PRIORITY
    )
    group.add_argument(
        "--webhook",
        metavar="<url>",
        help="post every event of the job to this URL, which your operator must allow",
    )
    group.add_argument(
        "--webhook-secret",
        metavar="<file>",
        help="file with the key that signs what is posted: openssl rand -base64 32",
    )
    group.add_argument(
        "--held",
        action="store_true",
        default=None,
        help="do not start it until job release",
    )
