"""Makes a server group in Nova for each job before it boots, and deletes it when the job has ended.

Nova cannot look up a group by its name, and lists a thousand of them in seconds.
"""

import threading
from typing import TYPE_CHECKING

from novaclient import exceptions as nova_exc
from novaclient.v2.client import Client
from oslo_config import cfg

from nova_twotier.cloud import server_groups
from nova_twotier.cloud.reader import Document, Reader
from nova_twotier.cloud.shared_reading import SharedReading

if TYPE_CHECKING:
    from nova_twotier.db.models import Job

#: Jobs that are remembered. Those whose servers are kept when they end stay for good.
MOST = 10_000
#: The policy of the groups, by which Nova places no server elsewhere: the option
#: `soft_affinity_weight_multiplier` of our nova.conf is 0.
POLICY = "soft-affinity"


def has_group(options: cfg.ConfigOpts.GroupAttr, size: int) -> bool:
    """Whether the servers of a job of this size are in a server group.

    :param options: group `[manager]`.
    """
    return options.largest_server_group < 0 or size <= options.largest_server_group


class OnlyGroups:
    """The ids of groups that are surely the only ones of their jobs, by the uuids of these.

    The id is empty for a job that surely has none. At most `MOST` are remembered: the oldest is
    forgotten, so that whoever asks for it has to list the groups.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: dict[str, str] = {}

    def add(self, job: str, group: str) -> None:
        with self._lock:
            self._groups[job] = group
            if len(self._groups) > MOST:
                del self._groups[next(iter(self._groups))]

    def get(self, job: str) -> str | None:
        with self._lock:
            return self._groups.get(job)

    def forget(self, job: str) -> None:
        with self._lock:
            self._groups.pop(job, None)


class JobGroups:
    """The server groups that jobs have in Nova.

    Methods raise the errors of novaclient, and CloudError if groups cannot be listed.

    :param nova: a client of the administrator.
    :param options: group `[manager]`; it may change at run time.
    """

    def __init__(self, nova: Client, reader: Reader, options: cfg.ConfigOpts.GroupAttr):
        self._nova, self._options = nova, options
        self._all = SharedReading(reader.server_groups)
        self._only = OnlyGroups()

    def begin(self) -> None:
        """Forget which groups are the only ones: another manager may have made some since."""
        self._only = OnlyGroups()

    def prepare(self, nova: Client, job: "Job", first: bool) -> tuple[str, bool]:
        """The id of the group that the next boot of a job is for, and whether it may have members.

        It is made if there is none yet. The id is empty if the job is too large for a group.

        :param nova: a client of the owner.
        :param first: nobody has ever sent Nova a request for this job, so that it has no group yet.
        """
        # That of the term in which this was asked for.
        only, name = self._only, _name(job)
        only.forget(job.uuid)
        grouped = has_group(self._options, job.size)
        if grouped and not first:

            def read(offset: int) -> list[Document]:
                return [group.to_dict() for group in nova.server_groups.list(offset=offset)]

            for group in server_groups.listed(read):
                if group["name"] == name:
                    return group["id"], True
        made = nova.server_groups.create(name, POLICY).id if grouped else ""
        if first:
            # No earlier request, and not this one either, can make another one any more.
            only.add(job.uuid, made)
        return made, False

    def delete(self, job: "Job") -> None:
        """Delete the server group of a job, with its duplicates.

        There are duplicates if Nova carried out a request to create one very late. All groups are
        listed, unless this manager knows that it made the only one, or none.
        """
        only = self._only
        known = only.get(job.uuid)
        if known is None:
            found = [group["id"] for group in self._all.get() if group["name"] == _name(job)]
        else:
            found = [known] if known else []
        for group in found:
            self._delete(group)
        only.forget(job.uuid)

    def _delete(self, group: str) -> None:
        """Delete a group, unless it is gone already."""
        try:
            self._nova.server_groups.delete(group)
        except nova_exc.NotFound:
            return


def _name(job: "Job") -> str:
    return f"twotier-{job.uuid}"
