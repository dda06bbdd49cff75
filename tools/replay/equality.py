"""The command `python -m nova_twotier.tools.replay.equality`: live equals simulated, by policy."""

import argparse
import pathlib
import sys
import time
from collections.abc import Iterable

from nova_twotier import conf as configuration
from nova_twotier.conf import ConfigError
from nova_twotier.core import policies
from nova_twotier.db.store import StoreError
from nova_twotier.sim.workloads import swf
from nova_twotier.tools.fakecloud import FakeCloud, FakeCloudError
from nova_twotier.tools.replay import workload
from nova_twotier.tools.replay.arguments import whole
from nova_twotier.tools.replay.errors import ReplayError, UsageError
from nova_twotier.tools.replay.run import EXCERPT
from nova_twotier.tools.replay.supervisor import Supervisor, python
from nova_twotier.tools.replay.verify import Verdict, verify
from nova_twotier.tools.replay.workload import ReplayJob

PROG = "equality"
HOSTS, SLOTS = 4, 3
#: Mbit/s of each link of a cloud whose jobs ask for bandwidth; hosts of a rack.
LINK_MBPS, RACK = 1000, 2
#: What the manager of a run has of its own; it looks often, since the run waits until it is calm.
CONF = """[DEFAULT]
state_path = {directory}
[manager]
policy = {policy}
poll_interval = 0.2
"""


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    out = arguments.out.absolute()
    alike = True
    try:
        jobs = {
            bandwidth: _jobs(arguments.skip, arguments.jobs, LINK_MBPS if bandwidth else 0)
            for bandwidth in (False, True)
        }
        names = arguments.policies or list(policies.POLICIES)
        for (tiers, bandwidth), served in _clouds(names, arguments.bandwidth):
            with FakeCloud(out / "cloud", hosts=HOSTS, slots=SLOTS, tiers=tiers) as cloud:
                if bandwidth:
                    _link(cloud)
                for policy in served:
                    begun = time.monotonic()
                    directory = out / f"{policy}-{int(time.time())}"
                    verdict = _run(cloud.info(), policy, directory, jobs[bandwidth])
                    alike &= _report(policy, verdict, time.monotonic() - begun)
    except UsageError as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 2
    except (FakeCloudError, ConfigError, StoreError, ReplayError) as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{PROG}: interrupted", file=sys.stderr)
        return 130
    return 0 if alike else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROG,
        allow_abbrev=False,
        description="Plays an excerpt of a trace on a fake-driver cloud, one event at a time, and "
        "compares what the queue manager decides with what the simulator does when jobs arrive and "
        "end as they did. Jobs ask for bandwidth under the policies that go by it (with "
        "--bandwidth: that can guarantee it), and slots have as many tiers as a policy uses "
        "(ktier-cmbf: 3).",
        epilog="Example: python -m nova_twotier.tools.replay.equality --jobs 20 amcbf. "
        "Exit status: 0 when all decisions were the same, 1 when not or when there were none, "
        "2 for bad input.",
    )
    parser.add_argument(
        "policies",
        nargs="*",
        type=_policy,
        metavar="POLICY",
        help=f"which of them (default: all, {' '.join(policies.POLICIES)})",
    )
    parser.add_argument(
        "--jobs",
        type=whole(1),
        default=40,
        metavar="N",
        help="jobs of a run (default: %(default)s)",
    )
    parser.add_argument(
        "--skip",
        type=whole(0),
        default=4,
        metavar="N",
        help="jobs of the excerpt before those (default: %(default)s)",
    )
    parser.add_argument(
        "--bandwidth",
        action="store_true",
        help="let jobs ask for bandwidth under every policy that can guarantee it, not only under "
        "those that go by it",
    )
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        default=pathlib.Path(".equality"),
        metavar="DIR",
        help="directory for the files of the runs (default: %(default)s)",
    )
    return parser


def _policy(name: str) -> str:
    try:
        return policies.get(name).name
    except policies.UnknownPolicy as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _clouds(
    names: Iterable[str], bandwidth: bool = False
) -> list[tuple[tuple[int, bool], list[str]]]:
    """The clouds that policies need, by tiers and whether jobs ask for bandwidth, and for which.

    :param bandwidth: whether jobs ask for it wherever it can be guaranteed.
    """
    found: dict[tuple[int, bool], list[str]] = {}
    for name in names:
        policy = policies.get(name)
        asked = policy.embeds if bandwidth else policy.bandwidth
        found.setdefault((max(2, policy.tiers), asked), []).append(name)
    return sorted(found.items())


def _link(cloud: FakeCloud) -> None:
    """Describe the hosts' network in aggregates: a switch for each rack, links of one rate."""
    nova = cloud.nova()
    names = cloud.settings.host_names
    for number, first in enumerate(range(0, len(names), RACK)):
        aggregate = nova.aggregates.create(f"rack{number}", None)
        for host in names[first : first + RACK]:
            nova.aggregates.add_host(aggregate, host)
        switch = {"twotier:switch": f"core/rack{number}", "twotier:uplink_mbps": str(LINK_MBPS)}
        nova.aggregates.set_metadata(aggregate, switch)


def _jobs(skip: int, most: int, link_mbps: int = 0) -> list[ReplayJob]:
    """:raises UsageError: if none are left."""
    trace = swf.read(EXCERPT)
    records = trace.records[skip : skip + most]
    if not records:
        there = len(trace.records)
        raise UsageError(f"--skip {skip}: the excerpt has {there} jobs, skip at most {there - 1}")
    return workload.fit(records, trace.processors, HOSTS * SLOTS, link_mbps=link_mbps)


def _run(info: dict, policy: str, directory: pathlib.Path, jobs: list[ReplayJob]) -> Verdict:
    directory.mkdir(parents=True)
    path = directory / "manager.conf"
    path.write_text(CONF.format(directory=directory, policy=policy))
    files = [f"--config-file={info['files']['manager_conf']}", f"--config-file={path}"]
    argv = python("nova_twotier.cmd.manager", *files)
    with Supervisor("manager", argv, directory / "manager.log", print) as manager:
        return verify(configuration.load(files, PROG), jobs, watch=manager.check)


def _report(policy: str, verdict: Verdict, seconds: float) -> bool:
    if not verdict.decisions:
        print(f"{policy}: no decisions, so nothing was compared ({seconds:.0f} s)")
    else:
        what = "not the same" if verdict.difference else "the same"
        count = verdict.decisions
        print(f"{policy}: {count} decisions, {what} as the simulator's ({seconds:.0f} s)")
    for kind, count in sorted(verdict.kinds.items()):
        print(f"  {count:4} {kind}")
    for reason in verdict.failures:
        print(f"  failed and was decided anew: {reason}")
    for line in verdict.difference:
        print(f"  {line}")
    sys.stdout.flush()
    return verdict.alike


if __name__ == "__main__":
    sys.exit(main())
