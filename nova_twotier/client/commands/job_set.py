"""`openstack twotier job set`."""

from osc_lib.exceptions import CommandError

from nova_twotier.client import arguments, brief, columns
from nova_twotier.client.commands.jobs import with_job


class SetJob(brief.ShowBriefly):
    """Change a job that is not over"""

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
                type=arguments.duration,
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
        return parser

    def take_action(self, parsed_args):
        given = {
            name: getattr(parsed_args, name)
            for name in ("name", "estimate", "walltime", "priority")
            if getattr(parsed_args, name) is not None
        }
        unset = [name for name in ("estimate", "walltime") if getattr(parsed_args, f"no_{name}")]
        change = given | dict.fromkeys(unset)
        if not change:
            raise CommandError("say what to change, such as --walltime 2h: see --help")
        api = self.app.client_manager.twotier
        job = api.change_job(api.find(parsed_args.job)["uuid"], change)
        if self.brief:
            self.line = brief.state(api, job)
        return columns.one(job)
