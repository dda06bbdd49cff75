"""Cost of the plugin in nova-scheduler: python benchmarks/scheduler.py

    --hosts 1000,5000,10000   cloud sizes       --sizes 1,8,32   VMs of a request
    --rounds N                default 5          --tier fg|bg     of the two-tier requests, bg
    --adaba MULTIPLIER        of AdaBaWeigher: 0, as installed, switches it off
    --profile                 also where the time goes, for the largest --hosts and --sizes
    --ledger-hosts 1000       hosts in the real Placement of table 2; 0 leaves it out

The whole takes about an hour on two idle cores. Times are CPU time in milliseconds, the best of the
rounds; in brackets the wall clock. The variants take turns within one run, each in a process of its
own, as a nova-scheduler has one configuration (in table 2 they share one with Placement).
"Over" is the median of the rounds' ratios; the noise column says when to believe it. On a busy
machine it needs more rounds. Figures, not tests.

Table 1: Nova's whole `SchedulerManager._schedule`: it makes the host states, filters and weighs
them for each VM in turn, claims and selects.
  a        Nova's default filters and weighers, on the two-tier request
  b        the defaults, and our filters and weighers. Target: at most 15 % over a
  c        the default filters and ours; of the weighers ours and Nova's BuildFailureWeigher only.
           Target: faster than a
  plain a  the defaults, on a request without a two-tier flavor
  plain d  as b, on that request. Target: less than 1 % over plain a
  noise    plain a over itself, in the same rounds: a difference of this size says nothing
  our code in d   the part of d that is spent in our classes, measured there, so free of that noise

Real: all code of Nova from `_schedule` down and of the plugin, HostState made by Nova's HostManager
from ComputeNodes, decoding of Placement's answer. Stubbed, alike for all variants: the database
(computes, services, aggregates and instances are Nova's objects in memory), HTTP (prepared bodies,
which a test compares with what Placement writes), claims (they succeed). Every host passes all
filters, and the VMs are in no server group: what would be less work for us, or more for Nova, is
left out.

Table 2: `SchedulerManager.select_destinations` on a real Placement in this process, its database
sqlite in memory, with --ledger-hosts hosts in the ledger; making them takes some minutes. Claims
are real. Stubbed: Nova's database as above, notifications.
  Nova's read  GET /allocation_candidates of Nova's own, as its report client makes it
  our reads    the same of the plugin: the job's entry and the candidates of the tier
  a, b, c      the whole request, as in table 1

Table 3: `_schedule` as in table 1, for a job whose VMs have 100 Mbit/s each. Hosts are in racks of
40, each link takes 1000 Mbit/s, and the job's entry holds what AdaBa needs for it, in the
foreground.
  a            Nova's default filters and weighers, which place the VMs anywhere
  e            the defaults, and our filters and weighers: after the first VM few hosts are left
  f            as e, for VMs that are no job's: nothing is reserved, half of each link is free
  the plan     what VirtualClusterFilter takes for all VMs together, in f with decoding the links of
               Placement's answer. One VM alone needs none in f. Target: less than 10 % of a
"""

import argparse

from nova import monkey_patch

# As in nova-scheduler's own entry point, before anything else of Nova.
monkey_patch.patch(backend="threading")

from scheduling import tables  # noqa: E402
from scheduling.cloud import Cloud, configure  # noqa: E402

from nova_twotier.core.actions import Tier  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", type=_numbers, default=(1000, 5000, 10_000))
    parser.add_argument("--sizes", type=_numbers, default=(1, 8, 32))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tier", type=Tier, choices=list(Tier), default=Tier.BG)
    parser.add_argument("--adaba", type=float, default=0.0)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--ledger-hosts", type=int, default=1000)
    options = parser.parse_args()
    configure(options.adaba)
    tables.costs(options.hosts, options.sizes, options.rounds, options.tier)
    if options.profile:
        tables.parts(Cloud(max(options.hosts)), max(options.sizes), options.tier)
    tables.plans(options.hosts, options.sizes, options.rounds)
    if options.ledger_hosts:
        tables.reads(options.ledger_hosts, options.sizes, options.rounds, options.tier)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


if __name__ == "__main__":
    main()
