"""How jobs start, are preempted and are moved."""

from nova_twotier.core.reasons.reason import Code, Reason

IMMEDIATE = Code(
    "immediate",
    "in the {tier}, immediately",
    "It started in this tier, and no earlier arrival was waiting.",
    "Nothing.",
)
BACKFILLED = Code(
    "backfilled",
    "in the {tier}, backfilled",
    "It started in this tier before an earlier arrival, which did not fit.",
    "Nothing; the earlier job may preempt it.",
)
RESERVED = Code(
    "reserved",
    "in the {tier}, in its turn",
    "It started in this tier in its turn, after it had waited under a reservation.",
    "Nothing.",
)
TENTATIVE = Code(
    "tentative",
    "in the {tier}, tentatively",
    "It started in this tier out of turn, and begins anew if its turn needs the slots.",
    "Nothing; `--checkpoint` saves its state in that case.",
)
PREEMPTED = Code(
    "preempted",
    "preempted by {by}",
    "A job that comes before it by the queue's policy needed its slots.",
    "It starts again by itself; what is kept until then, `--preemption` says.",
)
TO_FOREGROUND = Code(
    "to-foreground",
    "leaves the background to start in the foreground",
    "It is its turn in the foreground of other hosts, and its policy does not migrate.",
    "It starts again by itself; `--checkpoint` saves its state.",
)
SAVE_TIMEOUT = Code(
    "save-timeout",
    "[preempted by {by}, ]begins anew: its state could not be saved within {seconds} s",
    "It was preempted, and Nova did not shelve or suspend its servers in time: they were deleted.",
    "Make sure that its guests shut down quickly; see doc/tenant.md.",
)
MOVE_TIMEOUT = Code(
    "move-timeout",
    "begins anew: it could not be migrated within {seconds} s",
    "It was to change its tier, and Nova did not migrate its servers in time: they were deleted.",
    "Memory that changes fast takes long to migrate; tell the operator if that happens often.",
)
SCATTERED = Code(
    "scattered",
    "preempted by the manager: its servers are not all at work in the {tier}",
    "Its servers cannot work together, as some are in another tier or not at work.",
    "It starts again by itself, with its state.",
)
OUTSIDE_POOL = Code(
    "outside-pool",
    "preempted by the manager: not all of its servers are on hosts of pool {pool}",
    "A host that it ran on is not in its pool any more: the operator gave it to another one, or it "
    "lost its slots (the manager's log says why). Or a server was moved to another host.",
    "It starts again by itself, with its state, on the hosts that the pool has.",
)
MOVED = Code(
    "moved",
    "{moved} of {size} processes to the {tier}",
    "It took another tier because it was its turn there: processes swap in place or migrate.",
    "Nothing.",
)
DEMOTED = Code(
    "demoted",
    "{moved} of {size} processes to the {tier}, preempted by {by}",
    "A job that comes before it took the foreground; it continues in the background.",
    "Nothing: it is promoted in its turn.",
)
VACATED = Code(
    "vacated",
    "{moved} of {size} processes to other hosts in the {tier}: maintenance",
    "The operator drains a host that it ran on; it was migrated while it ran, and keeps its tier.",
    "Nothing.",
)
MEASURED = Code(
    "measured",
    "CPU of {processes}",
    "Its CPU utilisation was measured, and differs from what was expected.",
    "Nothing; declare it with `--cpu`.",
)
PEERS_LEFT_OUT = Code(
    "peers-left-out",
    "its guests do not know the addresses of all processes: Nova takes no more metadata items",
    "All addresses need more metadata of its servers than the project's quota `metadata_items` "
    "allows. The script starts with that of rank 0, or with none.",
    "Ask for a larger quota `metadata_items`; all of them are tried again every 10 minutes.",
)
WALLTIME_NEAR = Code(
    "walltime-near",
    "is stopped in {left} s: its walltime is {walltime} s",
    "Its walltime is nearly over.",
    "Save the results; submit the next job with a longer `--walltime`.",
)


def moved(processes: int, size: int, tier: str, by: int | None = None) -> Reason:
    """
    :param processes: how many of the `size` processes have moved.
    :param by: number of the job for which they have, if it is another one.
    """
    code = MOVED if by is None else DEMOTED
    return code(by, moved=processes, size=size, tier=tier)


#: How a start came about, by the value of `core.actions.StartKind`.
STARTS = {code.name: code for code in (IMMEDIATE, BACKFILLED, RESERVED, TENTATIVE)}
