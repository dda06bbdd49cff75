"""Why jobs wait."""

from nova_twotier.core.reasons.reason import Code

#: The end of texts about too few slots, if planned maintenance makes them fewer.
_BARRED = (
    "[; {barred} slots, idle or not, are not for it: it may run for {limit} s, and the first "
    "maintenance of their hosts begins at {begin}]"
)

UNDECIDED = Code(
    "undecided",
    "waits; the manager has not decided about it yet",
    "The queue manager has not looked at the job since it was submitted or released.",
    "Wait for a moment. If that lasts, tell the operator: no queue manager may be at work.",
)
HELD = Code(
    "held",
    "held until it is released",
    "Its owner holds the job.",
    "`openstack twotier job release`.",
)
BEGIN = Code(
    "begin",
    "waits until {begin}",
    "Its owner has asked for it not to start before this time.",
    "Nothing: it is in the queue from then on.",
)
DEPENDENCY = Code(
    "dependency",
    "waits for {by} to {wanted}[, and for {more} more]",
    "Its owner has asked for it to start after other jobs.",
    "Nothing: it is in the queue from then on. To do without the other jobs, cancel it and submit "
    "it anew.",
)
ARRAY_DEPENDENCY = Code(
    "array-dependency",
    "waits for the tasks of array {array} to {wanted}[, and for {more} more]",
    "Its owner has asked for it to start after all tasks of an array.",
    "Nothing: it is in the queue from then on. To do without the array, cancel it and submit it "
    "anew.",
)
ARRAY_LIMIT = Code(
    "array-limit",
    "waits for other tasks of its array: at most {limit} may be in the queue or run at the same "
    "time",
    "Its owner has limited how many tasks of the array are in the queue or run at the same time.",
    "Wait until other tasks have ended, or change the limit: `openstack twotier job set "
    "--array-limit`.",
)
PAUSED = Code(
    "paused",
    "the queue is paused",
    "An operator has paused the queue: nothing starts or is preempted.",
    "Wait; an operator resumes it with `openstack twotier queue resume`.",
)
OUTAGE = Code(
    "outage",
    "many hosts went down together: nothing is decided until they are back or an operator declares "
    "them dead",
    "Many hosts fell silent together, as when the control plane fails; their guests may still run.",
    "Wait. Operators find the hosts in the manager's log, and what to do in "
    "doc/operator/maintenance.md.",
)
SLOTS = Code(
    "slots",
    "needs {size} foreground slots, {idle} idle[ + {later} held by later jobs]"
    "[; or {size} background slots, {open} open and idle]"
    f"[; nor without the {{passed}} that passed it]{_BARRED}",
    "Too few slots are idle in the tiers that it may use, even with those of the jobs that it may "
    "preempt.",
    "Wait; a job of a smaller size starts earlier.",
)
BACKGROUND_SLOTS = Code(
    "background-slots",
    f"needs {{size}} background slots, {{open}} open and idle{_BARRED}",
    "It is a scavenger, its flavor allows the background only, or a limit of its owner's "
    "foreground slots is reached; and in the background too few slots are open and idle.",
    "Wait, choose a smaller size, `--qos normal`, or a flavor that allows the foreground.",
)
TURN = Code(
    "turn",
    "waits behind {by}[, then needs {size} foreground slots, {idle} idle]"
    "[ + {later} held by later jobs][; or {size} background slots, {open} open and idle]"
    f"{_BARRED}",
    "Another job is considered first, and too few slots are idle to start this one out of turn.",
    "Wait until the first job has started.",
)
DELAY = Code(
    "would-delay",
    "would fit the {idle} idle foreground slots, but could delay an earlier arrival ({by} is the "
    "first)",
    "It would fit, but the slots are reserved for jobs that arrived earlier.",
    "Wait; a shorter `--estimate` or `--walltime`, if it is true, lets the job start before the "
    "reservation.",
)
TIER_UNUSED = Code(
    "tier-unused",
    "may run only in the background, which policy {policy} does not use",
    "It is a scavenger, or its flavor allows the background only, and the queue's policy has no "
    "background.",
    "Of a scavenger, `openstack twotier job set --qos normal`; of others, cancel it, and submit it "
    "with a flavor that allows the foreground.",
)
FLAVOR_FOREGROUND = Code(
    "flavor-foreground",
    "is a scavenger, which runs in the background only, and its flavor allows the foreground only",
    "Its class and its flavor exclude each other.",
    "`openstack twotier job set --qos normal`, or cancel it and submit it with another flavor.",
)
TREE_SLOTS = Code(
    "tree-slots",
    "needs {size} slots in one tree of the network: {free} of {slots} are free"
    f"[; nor without the {{passed}} that passed it]{_BARRED}",
    "A job with bandwidth needs slots whose hosts are connected, and too few of those are idle.",
    "Wait; a job of a smaller size, or without bandwidth, starts earlier.",
)
BANDWIDTH = Code(
    "bandwidth",
    "no switch has {size} free slots below it with {mbps} Mbit/s each: {free} are free, but not "
    "with as much bandwidth[; nor without the {passed} that passed it]",
    "Enough slots are idle, but the links between them do not have enough bandwidth left.",
    "Wait; a job with less bandwidth starts earlier.",
)
UNPLACED = Code(
    "unplaced",
    "no place was found for {size} VMs in their turn; this is tried again"
    "[; nor without the {passed} that passed it]",
    "Slots and bandwidth would be enough now; they were not when the policy decided.",
    "Wait for the next decision.",
)
BOOTS = Code(
    "boots",
    "waits for servers of other jobs to boot: at most {limit} boot at the same time",
    "Slots are idle for it, but Nova is booting as many servers as it may at the same time.",
    "Wait. Operators set how many with `[manager]max_concurrent_boots`.",
)
SUSPENDED_HOSTS = Code(
    "suspended-hosts",
    "no slots are free for it on the hosts where it is suspended",
    "Its servers are suspended: they can resume only on their own hosts, whose slots others hold.",
    "Wait; with `--preemption shelve` a job can be restored on any host.",
)
WINDOW = Code(
    "window",
    "needs {size} slots, {idle}[ of {slots}] idle on hosts where it would end before their planned "
    "maintenance: it may run for {limit} s, and the first maintenance begins at {begin}",
    "Operators maintain hosts before the job's walltime is over. Without that, the idle slots "
    "would be enough now; or the other hosts have fewer slots than it needs, idle or not.",
    "Wait for other hosts, or for the end of the maintenance. A shorter walltime, if it is enough "
    "for the job, lets it start before: `openstack twotier job set --walltime`.",
)
TOO_LARGE = Code(
    "too-large",
    "needs {size} slots in one tier, the pool has {slots}",
    "The job is larger than its pool.",
    "Cancel it and submit it with a smaller size, or wait until hosts are added to the pool.",
)
EMPTY_POOL = Code(
    "empty-pool",
    "pool {pool} has no hosts",
    "No host of Nova belongs to the job's pool.",
    "Wait until the operator has added hosts to it: a pool has the hosts of the aggregates with "
    "`twotier:slots` and its name in `twotier:pool`, or without the latter for the pool `default`.",
)
NO_GUARANTEE = Code(
    "no-guarantee",
    "its bandwidth cannot be guaranteed by the policy {policy}, only by one of: {able}",
    "The queue's policy does not reserve bandwidth.",
    "Cancel it and submit it without `--bandwidth`, or ask the operator for another policy.",
)
NO_RATES = Code(
    "no-rates",
    "its bandwidth cannot be guaranteed: the pool's hosts have no twotier:uplink_mbps",
    "The operator has not described the links of the pool's hosts.",
    "Submit it without `--bandwidth`, or ask the operator to set `twotier:uplink_mbps`.",
)
BAD_NETWORK = Code(
    "bad-network",
    "its bandwidth cannot be guaranteed: the pool's network is described wrongly",
    "The aggregates' `twotier:switch` is contradictory; the manager's log says how.",
    "Tell the operator, or submit it without `--bandwidth`.",
)
NETWORK_TOO_SMALL = Code(
    "network-too-small",
    "no switch has {size} slots below it with {mbps} Mbit/s each, not even without other jobs",
    "The pool's network could not carry the job if it were empty.",
    "Cancel it and submit it with less bandwidth or a smaller size.",
)
SLOT_LIMIT = Code(
    "slot-limit",
    "needs {size} {tier} slots; its {per} may hold {limit} at a time and holds {used}"
    "[; {by} comes first]",
    "Its user or project has reached a limit of the slots that it may hold in the pool, or the "
    "room that is left under that limit is for an earlier job of the same user or project.",
    "Wait until other jobs of yours have ended. If the job is larger than the limit, cancel it and "
    "submit it with a smaller size.",
)
QUOTA = Code(
    "quota",
    "waits for quota: its project has not enough {resources} left",
    "Nova or Neutron refused its servers, because a quota of its project is used up.",
    "Delete other servers of the project, or ask for a larger quota; it is tried again.",
)
QUOTA_TOO_SMALL = Code(
    "quota-too-small",
    "its project's quota of {resource} is too small for a job of this size[: it is {limit}]",
    "Nova refused its servers, and would do so even if the project had no others.",
    "Cancel it and submit it with a smaller size, or ask for a larger quota; it is tried again.",
)
#: The codes of jobs that Nova or Neutron refused for a quota.
OF_QUOTA = frozenset({QUOTA, QUOTA_TOO_SMALL})
