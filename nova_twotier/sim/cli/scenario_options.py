"""The options of a scenario, and which of them go together."""

import argparse
from collections.abc import Sequence

from nova_twotier.core import fair_share
from nova_twotier.core.slots import THRESHOLD
from nova_twotier.sim.cli import values

#: The defaults of `--embedding` and `--deadline-factor`.
EMBEDDING = "adaba"
DEADLINE_FACTOR = 1.0


def add_scenario(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe the machine and its jobs; the policy is an argument."""
    group = parser.add_argument_group("machine and jobs")
    group.add_argument(
        "--slots",
        type=values.whole(1),
        default=1,
        metavar="L",
        help="slots of a host, e.g. 4; --nodes must be a multiple of it (default: 1)",
    )
    group.add_argument(
        "--tiers",
        type=values.whole(1),
        metavar="K",
        help="tiers of a slot, one of them the foreground, e.g. 3 (default: as the policy has)",
    )
    group.add_argument(
        "--utilisation",
        type=values.utilisation,
        default=(0.4, 1.0),
        metavar="LOW-HIGH",
        help="CPU utilisation of processes, drawn between these (0 to 1), e.g. 0.2-0.8 "
        "(default: 0.4-1.0)",
    )
    group.add_argument(
        "--cpu-error",
        type=values.error,
        default=0.0,
        metavar="R|none",
        help="relative error of the utilisation that the policy is told, 0 to 1, e.g. 0.1; none: "
        "it is told nothing (default: 0)",
    )
    group.add_argument(
        "--no-closing",
        dest="closing",
        action="store_false",
        help="with --cpu-error none: do not tell the policy either which processes keep their slot "
        "busy (from the threshold upwards)",
    )
    group.add_argument(
        "--threshold",
        type=values.share,
        metavar="U",
        help="a slot whose foreground process uses this much or more takes no background process, "
        f"0 to 1, e.g. 0.9 (default: that of the calibration, or {THRESHOLD})",
    )
    told = group.add_mutually_exclusive_group()
    told.add_argument(
        "--estimates",
        type=values.estimates,
        default="user",
        metavar="SOURCE",
        help="what the policy is told of run times: user (what users gave), user-corrected (the "
        "same, corrected when a job outruns it), exact (the true run times), missing (nothing), "
        "last-two (the mean of the user's last two run times), twice-last-two (both need a trace "
        "with users), historical (the "
        "median of similar past jobs), historical:Q (their quantile Q, e.g. historical:0.8), or "
        "missing-historical (the same, without any estimate of users); no prediction is above the "
        "user's estimate, and one that is outrun is corrected (default: user)",
    )
    told.add_argument(
        "--exact-estimates", action="store_true", help="the same as --estimates exact"
    )
    group.add_argument(
        "--keep-rank",
        action="store_false",
        dest="rerank",
        help="amcbf-deadline does not order a job anew that outruns its prediction",
    )
    group.add_argument(
        "--understated",
        type=values.share,
        default=0.0,
        metavar="SHARE",
        help="tell the policy a tenth of the estimate of this share of the jobs, drawn, 0 to 1, "
        "e.g. 0.5 (default: 0)",
    )
    group.add_argument(
        "--deadline-factor",
        type=values.factor,
        default=DEADLINE_FACTOR,
        metavar="K",
        help="amcbf-deadline considers jobs by arrival + K * estimate, 0 or more, e.g. 0.5 "
        "(default: 1)",
    )
    _add_fair_share(group)
    group.add_argument(
        "--qos",
        type=values.classes,
        metavar="CLASS=SHARE[,CLASS=SHARE]|trace",
        help="shares of the jobs, drawn, that are urgent (ahead of all others) or scavengers (in "
        "the background only, and evicted first), 0 to 1, e.g. urgent=0.05,scavenger=0.3; "
        "trace: those that the trace gives its jobs (default: none)",
    )
    group.add_argument(
        "--progress",
        "--model",
        default="tpds",
        metavar="NAME",
        help="how fast processes advance in their tiers: tpds (TPDS 2013), jss (JSS 2015), "
        "or the file of twotier-calibrate, e.g. calibration/model.json (default: tpds)",
    )
    group.add_argument(
        "--reading",
        type=values.reading,
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help="a field of the progress model that differs: processes=slowest|own|mean, "
        "draw=mean|job|process|slice, floor=0.04, loss=0,0.037, eff_single=0.8,1 or "
        "eff_parallel=0.428,0.144,0.2,0.8; may be repeated",
    )
    group.add_argument(
        "--migration-cost",
        type=values.seconds,
        default=20.0,
        metavar="SECONDS",
        help="time that a migration or a restore takes, e.g. 0 (default: 20)",
    )
    _add_network(parser)


def _add_fair_share(group) -> None:
    group.add_argument(
        "--fair-share",
        choices=("user", "group"),
        help="put jobs back in the queue by what their user or group, as the trace has it, has "
        "used lately (default: by arrival alone)",
    )
    group.add_argument(
        "--half-life",
        type=values.seconds,
        default=fair_share.HALF_LIFE,
        metavar="SECONDS",
        help="with --fair-share: time after which use counts half, e.g. 86400 (default: 7 days)",
    )
    group.add_argument(
        "--background-weight",
        type=values.share,
        default=fair_share.BACKGROUND_WEIGHT,
        metavar="W",
        help="with --fair-share: what a slot in the background counts, 0 to 1, where one in the "
        "foreground counts 1 (default: 0.5)",
    )
    group.add_argument(
        "--longest-offset",
        type=values.seconds,
        default=fair_share.LONGEST_OFFSET,
        metavar="SECONDS",
        help="with --fair-share: how far a job may be put back at most, e.g. 43200 (default: a "
        "day)",
    )


def _add_network(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("network with guaranteed bandwidth")
    group.add_argument(
        "--topology",
        type=values.topology,
        metavar="T",
        help="a job fits where its bandwidth does, too: fat-tree:K or fat-tree:K:MBPS, k**3 / 4 "
        "hosts of --slots slots with links of so many Mbit/s (default 1000), e.g. fat-tree:6; "
        "with :EDGE:POD at its end, so many links up from an edge switch and from a pod, e.g. "
        "fat-tree:6:1000:1:3 (default: K/2 and (K/2)**2; no network)",
    )
    group.add_argument(
        "--embedding",
        type=values.embedding,
        default=EMBEDDING,
        metavar="E",
        help="which hosts take a job on a topology: adaba, oktopus, greedy, best-fit, first-fit; "
        "the rivals without search for a subtree: best-fit-anywhere, greedy-anywhere; with a "
        "place wherever there is any: adaba-or-exact (default: adaba)",
    )
    group.add_argument(
        "--bandwidth",
        type=values.bandwidth,
        metavar="B",
        help="of each process, drawn: by-size (Symmetry 2018, section 5.2), by-size:MEAN or "
        "normal:MEAN in Mbit/s, e.g. normal:250 (default: none)",
    )
    group.add_argument(
        "--no-queue",
        dest="queueing",
        action="store_false",
        help="jobs that do not fit when they arrive are rejected; see accept_rate",
    )


def scenario(parsed: argparse.Namespace, *policies: str):
    """Build the scenario from the parsed options, with the first of the policies.

    :param policies: all that are to run, or of which something may be asked later.
    :raises ValueError: as `Scenario` does, and if an option says nothing without another one.
    """
    from nova_twotier.sim import calibration
    from nova_twotier.sim.estimates import EXACT
    from nova_twotier.sim.scenario import Scenario
    from nova_twotier.sim.workloads.utilisation import Utilisation

    estimates = EXACT if parsed.exact_estimates else parsed.estimates
    _check_together(parsed, estimates, policies)
    lowest, highest = parsed.utilisation
    threshold = parsed.threshold
    if threshold is None:
        measured = calibration.threshold(parsed.progress)
        threshold = THRESHOLD if measured is None else measured
    return Scenario(
        policy=policies[0],
        slots=parsed.slots,
        tiers=parsed.tiers,
        utilisation=Utilisation(
            lowest=lowest, highest=highest, error=parsed.cpu_error, closing=parsed.closing
        ),
        progress=parsed.progress,
        reading=dict(parsed.reading),
        migration_cost=parsed.migration_cost,
        threshold=threshold,
        estimates=estimates,
        rerank=parsed.rerank,
        understated=parsed.understated,
        deadline_factor=parsed.deadline_factor,
        fair_share=parsed.fair_share,
        half_life=parsed.half_life,
        background_weight=parsed.background_weight,
        longest_offset=parsed.longest_offset,
        qos=parsed.qos,
        topology=parsed.topology,
        embedding=parsed.embedding,
        bandwidth=parsed.bandwidth,
        queueing=parsed.queueing,
        seed=parsed.seed,
    )


def _check_together(parsed: argparse.Namespace, estimates: str, policies: Sequence[str]) -> None:
    """:raises ValueError: if options contradict each other, or one says nothing without another."""
    from nova_twotier.core.policies import Policy
    from nova_twotier.core.policies.amcbf_deadline import AmcbfDeadline
    from nova_twotier.core.policies.sbf import Sbf
    from nova_twotier.sim import variants
    from nova_twotier.sim.estimates import EXACT, USER, is_missing, predicts

    shares = parsed.half_life, parsed.background_weight, parsed.longest_offset
    usual = fair_share.HALF_LIFE, fair_share.BACKGROUND_WEIGHT, fair_share.LONGEST_OFFSET
    for wrong, message in (
        (
            parsed.understated and (is_missing(estimates) or estimates == EXACT),
            f"--understated is of users' estimates, and --estimates {estimates} has none",
        ),
        (
            not parsed.rerank and not predicts(estimates),
            f"--keep-rank is of predictions, and --estimates {estimates} has none",
        ),
        (
            not parsed.rerank
            and all(type(variants.get(name)).rank is Policy.rank for name in policies),
            f"--keep-rank says nothing but under policies such as {AmcbfDeadline.name}, which "
            "rank running jobs, too, by their run times",
        ),
        (
            parsed.deadline_factor != DEADLINE_FACTOR and AmcbfDeadline.name not in policies,
            f"--deadline-factor says nothing but under {AmcbfDeadline.name}",
        ),
        (
            not parsed.queueing and (estimates != USER or parsed.understated),
            "--estimates and --understated say nothing with --no-queue: nobody decides by them",
        ),
        (
            not parsed.closing and parsed.cpu_error is not None,
            "--no-closing says nothing without --cpu-error none",
        ),
        (
            parsed.fair_share is None and shares != usual,
            "--half-life, --background-weight and --longest-offset say nothing without "
            "--fair-share",
        ),
        (
            parsed.topology is None and parsed.embedding != EMBEDDING,
            "--embedding says nothing without --topology",
        ),
        (
            parsed.topology is None and parsed.bandwidth is not None and Sbf.name not in policies,
            f"--bandwidth says nothing without --topology, but under {Sbf.name}",
        ),
    ):
        if wrong:
            raise ValueError(message)
