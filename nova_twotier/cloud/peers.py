"""The server metadata by which the guests of a job learn who they are and where the others are.

`client.peers` reads them in a guest; doc/api.md describes them for user data of one's own. They are
written at boot, for a job with `peers`, and once more when the addresses of all servers are known.
All values consist of ASCII: Nova's database may take no other characters.
"""

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from nova_twotier.cloud.servers import Server

if TYPE_CHECKING:
    # Its libraries need not be installed for callers that only read Nova.
    from nova_twotier.db.models import Job

#: Environment variables, as words: more of them may follow in later releases.
ENVIRONMENT = "twotier_env"
#: The number of parts that the job's name has, in base64; they are in `twotier_name_0` and so on.
NAME = "twotier_name"
#: The number of parts that the addresses have; empty: they are not known yet, or not any more.
ADDRESSES = "twotier_peers"
#: Longest value that Nova takes.
LONGEST = 255
#: Most parts of the addresses. Every server has those of all, and the manager reads all of that in
#: each poll; besides, Nova allows 128 items by default (quota `metadata_items`).
MOST_PARTS = 32
#: Items of a server's metadata that a project must be allowed: besides those parts their number,
#: the variables, the name in at most six parts with their number, the job's uuid, a notice, and a
#: few for later releases.
MOST_ITEMS = MOST_PARTS + 16
#: Of servers in these states that it is not busy with, Nova changes the metadata.
TAKES_METADATA = frozenset({"ACTIVE", "PAUSED", "SHUTOFF", "SUSPENDED"})
#: What stands for a process without an address, for no addresses at all, and for unknown ones.
NO_ADDRESS, NONE, UNKNOWN = "-", "0", ""


def at_boot(job: "Job", networks: Sequence[str]) -> dict[str, str]:
    """Metadata of the servers of a job that is about to boot.

    :param networks: their networks, as `Job.networks`.
    """
    if not job.peers:
        return {}
    alone = job.size == 1 or networks[0] == "none"
    return {**_about(job, job.restarts), ADDRESSES: NONE if alone else UNKNOWN}


def running(job: "Job", gang: Iterable[Server]) -> dict[str, str]:
    """Metadata of the servers of a job that runs.

    :param gang: its servers, in the order of the processes.
    """
    found = [server.fixed_addresses for server in gang] if job.size > 1 else []
    return {**_about(job, job.restarts), **_parts(ADDRESSES, _addresses(found))}


def in_brief(job: "Job", gang: Sequence[Server]) -> list[dict[str, str]]:
    """What to tell the servers of a job that runs when Nova does not take all of `running`.

    :returns: the address of the first process alone, if it has one; then only items that every
        server has since it booted.
    """
    short = {ENVIRONMENT: _environment(job, job.restarts)}
    first = gang[0].fixed_addresses
    with_first = [{**short, **_parts(ADDRESSES, [_word(first)])}] if first else []
    return [*with_first, {**short, ADDRESSES: NONE}]


def saved(job: "Job", server: Server) -> dict[str, str]:
    """What changes in the metadata of a server that is about to be shelved.

    Nova takes no metadata of one that is shelved, and its guest must know as soon as it boots again
    that the others may not be there yet.
    """
    changes = {ENVIRONMENT: _environment(job, job.restarts + 1)}
    if server.metadata.get(ADDRESSES) != NONE:
        changes[ADDRESSES] = UNKNOWN
    return changes


def shows(server: Server, items: Mapping[str, str]) -> bool:
    """Whether a server has these metadata, perhaps among others."""
    return all(server.metadata.get(key) == value for key, value in items.items())


def _about(job: "Job", restarts: int) -> dict[str, str]:
    name = base64.b64encode(job.name.encode()).decode()
    parts = [name[first : first + LONGEST] for first in range(0, len(name), LONGEST)]
    return {ENVIRONMENT: _environment(job, restarts), **_parts(NAME, parts)}


def _environment(job: "Job", restarts: int) -> str:
    variables: dict[str, int | str] = {
        "JOB_NUMBER": job.number,
        "SIZE": job.size,
        "RESTARTS": restarts,
        "WALLTIME": "" if job.walltime is None else math.floor(job.walltime),
    }
    if job.array is not None and job.array_index is not None and job.array_span:
        count, first, last = job.array_span
        variables |= {
            "ARRAY_NUMBER": job.array,
            "ARRAY_INDEX": job.array_index,
            "ARRAY_COUNT": count,
            "ARRAY_FIRST": first,
            "ARRAY_LAST": last,
        }
    return " ".join(f"TWOTIER_{name}={value}" for name, value in variables.items())


def _addresses(found: Sequence[Sequence[str]]) -> list[str]:
    """The addresses of all processes in order, in as few parts as they fit into.

    If these are more than `MOST_PARTS`, only those of the first process; if nobody has one, none.
    """
    if not any(found):
        return []
    parts: list[str] = []
    for word in map(_word, found):
        if parts and len(parts[-1]) + 1 + len(word) <= LONGEST:
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    return parts if len(parts) <= MOST_PARTS else [_word(found[0])]


def _word(addresses: Sequence[str]) -> str:
    """The addresses of one process, as many as fit into a part."""
    word = ",".join(addresses)
    if len(word) > LONGEST:
        word = word[: LONGEST + 1].rpartition(",")[0]
    return word or NO_ADDRESS


def _parts(key: str, parts: Sequence[str]) -> dict[str, str]:
    """A value in parts, preceded by their number: what is left of a longer one does not count."""
    return {key: str(len(parts)), **{f"{key}_{at}": part for at, part in enumerate(parts)}}
