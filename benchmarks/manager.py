"""Load on the queue manager: python benchmarks/manager.py [PART ...]

Parts: passes, idle, predictions, starts and queue, all of them by default; and large and rush, only
if they are named: they take long. Times are wall clock unless it is said otherwise. Figures, not
tests; without a free core they mean little.

passes: one poll of the manager, and the pass in it, with no cloud behind it, in milliseconds of CPU
time of this process; medians of --rounds.
  --waiting 10000  --slots 10000   jobs that wait, and slots in either tier, all of them taken
  --policies fcfs,easy,ambf,amcbf,acfcfs
Real: the engine, its decisions, the policies, the database (SQLite in a temporary directory).
In memory: Nova and Placement, which do at once whatever they are asked.
  pass       Decisions.decide: what the target of 100 ms is for
  play       of it, the policy, with the copy of the queue for it; reasons: why jobs wait
  see        what stands for Nova and Placement: no part of the manager
  read jobs  the jobs that are not over, from the database, and what policies see of them; write:
             what the poll changed
  poll       all of Engine.poll but `see`

idle: polls while nothing happens, one a second, with what reading Nova and Placement costs: CPU
time of this process by poll, without that of the stand-in for the cloud, and requests.
  --idle-hosts 1000  --waiting 10000  --finished 10000  --idle-polls 60  --idle-policy amcbf
Hosts of 16 slots, both tiers full of jobs, jobs that wait, and jobs that are over.
Real: all of the manager, its clients for Nova and Placement, and the database (SQLite).
In memory: Nova and Placement behind these clients. Nova takes 1 ms for each server that it lists
and 2 ms for each hypervisor, as an assumption; Placement takes no time.

predictions: polls as in `passes`, with --predicted 1000 jobs that wait for --predicted-hosts 1000
hosts of 16 slots under --predicted-policy amcbf, without predictions and while one after the other
is made (a manager predicts for a tenth of the time at most): by a process, as a manager does, and
by a thread, as it could.

starts: seconds from the request of --size 16 VMs until all are ACTIVE, in turn, --rounds times:
through the queue manager on a fake cloud of --start-hosts 16 hosts with 4 slots, and directly at
Nova on another one without nova-twotier, also in a server group, as those of jobs of up to
[manager]largest_server_group processes are.
With several numbers of hosts, such as 8,100,400, one after the other.
Target: 1.3. Real: Nova, Placement and all of ours; Nova's drivers are fake, and it is one process
for each cloud, all of whose hosts share a core. `server create` and `job create` are the commands,
from their start on; --no-commands leaves them out.

queue: on such a cloud of --hosts 64 hosts with 1 slot, with --queued 2000 jobs submitted through
the API: polls of the manager and where their time goes, answers of the API, and memory, for
--seconds 60 in which a job ends every 3 s.

large: on such clouds of --live-hosts 100,300,1000 hosts with 16 slots, one after the other: seconds
until the cloud is ready, polls with what reading Nova and Placement costs (for --seconds 60 while
nothing happens, and after a server has changed), listings, commands, memory, and starts of jobs of
--live-sizes 16,256 beside as many plain servers. Each figure with the machine's load.

rush: two pools on --rush-hosts 300 hosts of 16 slots. Jobs of 1 or 2 processes are submitted
through the API, --rate 10 a second for --minutes 10, which is more than Nova boots, and end after
--life 60 seconds. Two managers, each of which lets --boots 8 servers boot at the same time, lead a
pool each, until the first is killed (-9) after half of the time. What Nova boots without a queue is
measured before, for --alone 120 s. At the end the invariants of a replay must hold: each job
finished once or waits. The queue is in a database on a server (--database-url, by default the
MariaDB or PostgreSQL of this machine).
"""

import argparse
import contextlib
import pathlib
import signal
import sys
import tempfile
from collections.abc import Sequence

PARTS = ("passes", "idle", "predictions", "starts", "queue")
LONG_PARTS = ("large", "rush")
POLICIES = "fcfs,easy,ambf,amcbf,acfcfs"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--waiting", type=int, default=10_000)
    parser.add_argument("--slots", type=int, default=10_000)
    parser.add_argument("--policies", default=POLICIES)
    parser.add_argument("--idle-hosts", type=int, default=1000)
    parser.add_argument("--finished", type=int, default=10_000)
    parser.add_argument("--idle-polls", type=int, default=60)
    parser.add_argument("--idle-policy", default="amcbf")
    parser.add_argument("--predicted", type=int, default=1000)
    parser.add_argument("--predicted-hosts", type=int, default=1000)
    parser.add_argument("--predicted-policy", default="amcbf")
    parser.add_argument("--hosts", type=int, default=64)
    parser.add_argument("--start-hosts", default="16")
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--no-commands", dest="commands", action="store_false")
    parser.add_argument("--queued", type=int, default=2000)
    parser.add_argument("--policy", default="easy", help="of the queue, default: %(default)s")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--live-hosts", default="100,300,1000")
    parser.add_argument("--live-sizes", default="16,256")
    parser.add_argument("--rush-hosts", type=int, default=300)
    parser.add_argument("--rate", type=float, default=10.0)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--life", type=float, default=60.0)
    parser.add_argument("--boots", type=int, default=8, help="0: any number")
    parser.add_argument("--alone", type=float, default=120.0, help="seconds of Nova alone")
    parser.add_argument("--database-url", help="of the server for the queue of rush")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    parts = options.parts or PARTS
    every = PARTS + LONG_PARTS
    if unknown := set(parts) - set(every):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; choose of {', '.join(every)}")
    if "passes" in parts:
        from loading import passes

        policies = options.policies.split(",")
        passes.table(policies, options.waiting, options.slots, options.rounds)
    if "idle" in parts:
        from loading import idle

        hosts, finished, polls = options.idle_hosts, options.finished, options.idle_polls
        idle.table(options.idle_policy, options.waiting, hosts, finished, polls)
    if "predictions" in parts:
        from loading import predictions

        predictions.table(options.predicted_policy, options.predicted, options.predicted_hosts)
    if {"starts", "queue", *LONG_PARTS} & set(parts):
        _on_a_cloud(parts, options)


def _on_a_cloud(parts: list[str], options) -> None:
    from loading import large, queue, rush, starts
    from loading.site import Site

    @contextlib.contextmanager
    def cloud(hosts: int, slots: int, of_managers: Sequence[str] = (), plugin: bool = True):
        with (
            tempfile.TemporaryDirectory(prefix="twotier-load-") as directory,
            Site(pathlib.Path(directory), hosts, slots, of_managers, plugin).up() as site,
        ):
            yield site

    if "starts" in parts:
        for hosts in map(int, options.start_hosts.split(",")):
            with cloud(hosts, 4) as site, cloud(hosts, 4, plugin=False) as without:
                starts.table(site, options.size, options.rounds, options.commands, without)
    if "queue" in parts:
        with cloud(options.hosts, 1) as site:
            queue.table(site, options.policy, options.queued, options.seconds)
    if "large" in parts:
        sizes = [int(size) for size in options.live_sizes.split(",")]
        for hosts in options.live_hosts.split(","):
            with cloud(int(hosts), 16) as site:
                large.table(site, options.seconds, sizes)
    if "rush" in parts:
        with (
            rush.database(options.database_url) as database,
            cloud(options.rush_hosts, 16, rush.options(database, options.boots)) as site,
        ):
            seconds = 60.0 * options.minutes
            rush.table(site, options.rate, seconds, options.life, options.alone)


if __name__ == "__main__":
    main()
