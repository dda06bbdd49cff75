"""`twotier`: the provisional command line of the queue, straight on the manager's database."""

import argparse
import os
import sys

from sqlalchemy.exc import SQLAlchemyError

from nova_twotier import conf as config
from nova_twotier.client import output
from nova_twotier.core.jobs import InvalidJob
from nova_twotier.manager.db.store import NoSuchJob, Store, StoreError


def main(args: list[str] | None = None) -> int:
    options = _parser().parse_args(args)
    files = [argument for path in options.config_file for argument in ("--config-file", path)]
    try:
        conf = config.load(files, "twotier")
        print(options.run(Store(conf.database.connection), options), flush=True)
    except InvalidJob as error:
        return _fail(error, 2)
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; nor shall the interpreter complain at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (config.ConfigError, StoreError, NoSuchJob, SQLAlchemyError) as error:
        return _fail(error, 1)
    return 0


def _fail(error: Exception, code: int) -> int:
    print(f"twotier: {str(error).splitlines()[0]}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="twotier", description="Jobs of the two-tier queue.")
    parser.add_argument(
        "--config-file",
        action="append",
        default=[],
        metavar="FILE",
        help="configuration of nova-twotier (default: where oslo.config looks)",
    )
    nouns = parser.add_subparsers(required=True, metavar="job")
    job = nouns.add_parser("job", help="submit and watch jobs").add_subparsers(
        required=True, metavar="submit|list|show|complete|cancel"
    )
    submit = _command(job, "submit", _submit, "put a job in the queue")
    submit.add_argument("--size", type=int, required=True, help="processes (VMs), e.g. 4")
    submit.add_argument(
        "--cpu",
        default="1.0",
        metavar="U[,U...]",
        help="CPU utilisation 0..1 of each process, or one for all, e.g. 0.6 (default: 1.0)",
    )
    submit.add_argument("--name", default="", help="a name for people")
    submit.add_argument("--estimate", type=float, metavar="SECONDS", help="estimated run time")
    _command(job, "list", _list, "all jobs")
    for verb, run, text in (
        ("show", _show, "one job and what happened to it"),
        ("complete", _wish("complete"), "end a job as finished"),
        ("cancel", _wish("cancel"), "end a job, or take it out of the queue"),
    ):
        _command(job, verb, run, text).add_argument("number", type=int, help="the job's number")
    return parser


def _command(nouns, name: str, run, text: str) -> argparse.ArgumentParser:
    command = nouns.add_parser(name, help=text, description=text)
    command.add_argument(
        "-f", "--format", choices=output.FORMATS, default="table", help="default: table"
    )
    command.set_defaults(run=run)
    return command


def _submit(store: Store, options) -> str:
    try:
        cpu = [float(value) for value in options.cpu.split(",")]
    except ValueError:
        raise InvalidJob(
            f"cpu is {options.cpu!r}; give numbers 0 to 1, separated by commas"
        ) from None
    job = store.submit(options.size, cpu, options.name, options.estimate)
    return output.one(output.job_row(job), options.format)


def _list(store: Store, options) -> str:
    return output.many([output.job_row(job) for job in store.jobs()], options.format)


def _show(store: Store, options) -> str:
    job = store.job(options.number)
    return output.one(output.job_details(job, store.events(job.number)), options.format)


def _wish(verb: str):
    def run(store: Store, options) -> str:
        return output.one(output.job_row(store.wish(options.number, verb)), options.format)

    return run


if __name__ == "__main__":
    sys.exit(main())
