"""Creates a Nova server group for a job, if quotas allow it, and deletes it when the job ends.

Nova cannot look up a group by its name, and lists a thousand of them in seconds.
"""

import math
import threading
from typing import TYPE_CHECKING

from novaclient import exceptions as nova_exc
from novaclient.v2.client import Client
from oslo_config import cfg
from oslo_log import log as logging

from nova_twotier.cloud import server_groups
from nova_twotier.cloud.reader import Document, Reader
from nova_twotier.cloud.shared_reading import SharedReading

if TYPE_CHECKING:
    from nova_twotier.db.models import Job

LOG = logging.getLogger(__name__)
#: Jobs that are remembered. Those whose servers are kept when they end stay for good.
MOST = 10_000
#: The policy of the groups, by which Nova places no server elsewhere: the option
#: `soft_affinity_weight_multiplier` of our nova.conf is 0.
POLICY = "soft-affinity"


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
    """The server groups that jobs have in Nova, as far as option and quotas allow them.

    No quota of groups or of their members keeps a job from starting: if there is no room, its
    servers are in no group. Methods raise the errors of novaclient, and CloudError if groups cannot
    be listed.

    :param nova: a client of the administrator.
    :param options: group `[manager]`; it may change at run time.
    """

    def __init__(self, nova: Client, reader: Reader, options: cfg.ConfigOpts.GroupAttr):
        self._nova, self._options = nova, options
        self._all = SharedReading(reader.server_groups)
        self._only = OnlyGroups()
        #: Jobs for whose servers their groups had no room, by uuid; and by owner, the smallest size
        #: of a job for which even a new group had none.
        self._crowded: set[str] = set()
        self._refused: dict[tuple[str, str], int] = {}

    def begin(self) -> None:
        """Forget which groups are the only ones: another manager may have made some since.

        And what quotas have refused: they may be larger by now.
        """
        self._only = OnlyGroups()
        self._crowded.clear()
        self._refused.clear()

    def prepare(self, nova: Client, job: "Job", first: bool) -> str:
        """Find or create the server group for the next boot of a job.

        :param nova: a client of the owner.
        :param first: nobody has ever sent Nova a request for this job, so that it has no group yet.
        :returns: its id; empty if the job is to be in no group.
        """
        # That of the term in which this was asked for.
        only, name = self._only, _name(job)
        only.forget(job.uuid)
        grouped = self._allowed(job)
        if grouped and not first:

            def read(offset: int) -> list[Document]:
                return [group.to_dict() for group in nova.server_groups.list(offset=offset)]

            for group in server_groups.listed(read):
                if group["name"] == name:
                    return group["id"]
        made = self._make(nova, name) if grouped else ""
        if first:
            # No earlier request, and not this one either, can make another one any more.
            only.add(job.uuid, made)
        return made

    def _allowed(self, job: "Job") -> bool:
        """Whether a job is to have a group, as far as is known."""
        largest = self._options.largest_server_group
        if job.uuid in self._crowded or 0 <= largest < job.size:
            return False
        return job.size < self._refused.get(_owner(job), math.inf)

    @staticmethod
    def _make(nova: Client, name: str) -> str:
        """Make a group and return its id; empty if Nova does not let its owner have one."""
        try:
            return nova.server_groups.create(name, POLICY).id
        except nova_exc.Forbidden as error:
            LOG.info("A job starts without the server group %s: %s", name, error)
            return ""

    def give_up(self, job: "Job", first: bool) -> None:
        """Boot a job without a server group from now on: it exceeds the quota of members.

        :param first: as of `prepare`: the group is new. Then the owner's other jobs of this size or
            larger get none either, until another manager leads. Otherwise the refusal says nothing
            about other jobs: with unified limits, deleted servers still count as members.
        """
        LOG.info("Job %s starts without a server group: it may not have as many members", job.uuid)
        self._crowded.add(job.uuid)
        if first:
            least = self._refused.get(_owner(job), job.size)
            self._refused[_owner(job)] = min(least, job.size)

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
        self._crowded.discard(job.uuid)

    def _delete(self, group: str) -> None:
        """Delete a group, unless it is gone already."""
        try:
            self._nova.server_groups.delete(group)
        except nova_exc.NotFound:
            return


def _name(job: "Job") -> str:
    return f"twotier-{job.uuid}"


def _owner(job: "Job") -> tuple[str, str]:
    """Whose quota the group of a job counts for; both are empty for the manager's own."""
    return (job.project_id, job.user_id) if job.trust_id else ("", "")
