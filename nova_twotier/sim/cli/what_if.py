"""`what-if`: what is expected of a queue, and what a change would do to it."""

import argparse
from collections.abc import Callable

from nova_twotier.sim.cli import changes, options, scenario_options, values
from nova_twotier.sim.cli.command import Table

#: The estimator of a state that names none.
SDPN = "sdpn"


class WhatIf(Table):
    """Say when jobs of a queue will start and end, and what a change would do"""

    _epilog = (
        "Examples: twotier-sim what-if state.json --add-job size=8,estimate=3600; "
        "twotier-sim what-if KTH.swf.gz --at 9763200 --under easy --policy all. "
        "Times are from the time of the state; an interval holds with a probability of 80 %. "
        "No job is assumed to arrive later."
    )

    def add_arguments(self, parser):
        parser.add_argument(
            "source",
            metavar="STATE|SOURCE",
            help="a file that `twotier-manage snapshot` or --state-out wrote; or, with --at and "
            f"--under, {options.SOURCE}",
        )
        parser.add_argument(
            "--at",
            type=values.seconds,
            metavar="SECONDS",
            help="the time of the trace, or of the model's jobs, e.g. 9763200",
        )
        parser.add_argument(
            "--under",
            type=values.policy,
            metavar="P",
            help="the policy under which it is simulated until then, e.g. easy",
        )
        parser.add_argument(
            "--estimator",
            type=_estimator,
            metavar="E",
            help="how run times are predicted: sdpn, hanzich, historical, hybrid-smith, hybrid-li "
            "or requested (default: as the queue manager does that the state is of, else sdpn)",
        )
        parser.add_argument(
            "--jobs", action="store_true", help="a row for each job instead of the summary"
        )
        parser.add_argument(
            "--state-out",
            metavar="FILE",
            help="write the state without the changes, e.g. state.json",
        )
        changes.add_changes(parser)
        _add_run(parser)

    def columns(self, parsed_args):
        from nova_twotier.sim.cli import what_if_tables

        if parsed_args.jobs:
            return what_if_tables.JOBS
        # A row for each policy has columns for each new job, whose number is not known yet.
        return None if _several(parsed_args) else what_if_tables.SUMMARY

    def take_action(self, parsed_args):
        from nova_twotier.core import queue_state
        from nova_twotier.sim import what_if, whole_file
        from nova_twotier.sim.cli import what_if_tables

        several = _several(parsed_args)
        if several and parsed_args.jobs:
            raise ValueError("--jobs shows one policy: give --policy one name")
        if parsed_args.state_out:
            whole_file.possible(parsed_args.state_out)
        state = _state(parsed_args, self.app.complain)
        if parsed_args.at is not None and not state.waiting:
            self.app.complain(f"no job waits at {parsed_args.at:.15g} s")
        if parsed_args.state_out:
            with whole_file.replacing(parsed_args.state_out) as part:
                part.write_text(queue_state.text(state), encoding="utf-8")
        other, added = changes.changed(state, parsed_args)
        if any(each.job.mbps for each in state.jobs):
            self.app.complain("the bandwidth of jobs is left out of account")
        estimator = parsed_args.estimator or _known(state)
        before = what_if.expect(state, estimator)
        if several:
            found = what_if.under_each_policy(other, estimator, parsed_args.policy)
            return what_if_tables.by_policy(state, before, found, added)
        if parsed_args.policy:
            other = queue_state.with_policy(other, parsed_args.policy[0])
        after = what_if.expect(other, estimator)
        if parsed_args.jobs:
            return what_if_tables.by_job(before, after)
        return what_if_tables.summary((state, before), (other, after), added)


def _several(parsed: argparse.Namespace) -> bool:
    return len(parsed.policy or ()) > 1


def _add_run(parser: argparse.ArgumentParser) -> None:
    """What a run until the time is like."""
    options.add_load(parser)
    options.add_workload(parser)
    scenario_options.add_scenario(parser)


def _state(parsed: argparse.Namespace, say: Callable[[str], None]):
    if parsed.at is None and parsed.under is None:
        run = argparse.ArgumentParser(add_help=False)
        _add_run(run)
        for action in run._actions:
            if getattr(parsed, action.dest) != action.default:
                option = "/".join(action.option_strings)
                raise ValueError(f"{option} is of a run: it needs --at SECONDS and --under POLICY")
        return changes.read(parsed.source)
    if parsed.at is None or parsed.under is None:
        raise ValueError("of a trace or a model, give both --at SECONDS and --under POLICY")
    from nova_twotier.core import policies
    from nova_twotier.sim import trace_state

    workload = options.workload(parsed, say)
    # The state keeps what the others go by.
    scenario = scenario_options.scenario(parsed, parsed.under, *policies.POLICIES)
    scenario.check(workload)
    return trace_state.state_at(workload, scenario, parsed.at, parsed.estimator or SDPN)


def _known(state) -> str:
    """The estimator whose errors a state has."""
    return state.measured.estimator if state.measured else SDPN


def _estimator(text: str) -> str:
    from nova_twotier.core import prediction

    return values.checked(text, prediction.get)
