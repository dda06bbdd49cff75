"""`openstack twotier job set`."""

from functools import partial

from osc_lib.exceptions import CommandError

from nova_twotier.client import arguments, arrays, brief, columns
from nova_twotier.client.commands.jobs import with_job

#: What an option is that was not given, where None means something.
_UNSET = object()


class SetJob(brief.ShowBriefly):
    """Change a job that is not over, or an array and its tasks that have not started"""

    def get_parser(self, prog_name):
        parser = with_job(super().get_parser(prog_name))
        parser.add_argument("--name", metavar="<name>", help="a name for people")
        for name, text in (
            ("estimate", "expected run time"),
            (
                "walltime",
                "longest run time, summed over its runs; only operators make that of a job with "
                "servers longer",
            ),
        ):
            either = parser.add_mutually_exclusive_group()
            either.add_argument(
                f"--{name}",
                type=partial(arguments.run_time, otherwise=f"give --no-{name}"),
                metavar="<time>",
                help=f"{text}: seconds, or a time such as 90m, 2h, 1:30:00",
            )
            either.add_argument(
                f"--no-{name}", action="store_true", help=f"it has no {name} any more"
            )
        parser.add_argument(
            "--priority",
            type=arguments.priority,
            metavar="<n>",
            help=arguments.PRIORITY,
        )
        parser.add_argument(
            "--qos",
            choices=arguments.CLASSES,
            help="class of service, while the job waits: see job create",
        )
        parser.add_argument(
            "--array-limit",
            metavar="<n>",
            type=_limit,
            default=_UNSET,
            help="of an array: at most so many tasks are in the queue, or run, at the same time; "
            "none: all of them",
        )
        return parser

    def take_action(self, parsed_args):
        given = {
            name: getattr(parsed_args, name)
            for name in ("name", "estimate", "walltime", "priority", "qos")
            if getattr(parsed_args, name) is not None
        }
        unset = [name for name in ("estimate", "walltime") if getattr(parsed_args, f"no_{name}")]
        change = given | dict.fromkeys(unset)
        if parsed_args.array_limit is not _UNSET:
            change["most_at_once"] = parsed_args.array_limit
        if not change:
            raise CommandError("say what to change, such as --walltime 2h: see --help")
        api = self.app.client_manager.twotier
        found = arrays.find(api, parsed_args.job)
        if found.array:
            if found.indexes:
                raise CommandError("change a whole array, as 12, or one of its tasks, as 12_3")
            array = api.change_array(found.array["number"], change)
            self.line = f"A{arrays.label(array)[1:]} is {array['state']}: {arrays.counts(array)}."
            return columns.one(array)
        if "most_at_once" in change:
            raise CommandError("--array-limit is of a whole array: give its number, such as 12")
        job = api.change_job(found.job["uuid"], change)
        if self.brief:
            # An API of an earlier release has no classes.
            moves = any(job.get(name) != found.job.get(name) for name in ("priority", "qos"))
            self.line = brief.state(api, job, moves)
        return columns.one(columns.with_expectations(job))


def _limit(text: str) -> int | None:
    return None if text == "none" else arrays.limit(text)
