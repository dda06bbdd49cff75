"""What a caller may know of hosts, and of jobs of other projects."""

import hashlib

from nova_twotier.api.auth import Caller
from nova_twotier.db.models import Job


class Disclosure:
    """Decides what a caller may see, and replaces the host names that the caller may not see."""

    def __init__(self, caller: Caller):
        self._project = caller.project_id
        self._all_jobs = caller.may("twotier:schedule:show:all_projects", self._project)
        #: Whether the caller may know the names of hosts.
        self.names_hosts = caller.may("twotier:hosts:list:names", self._project)

    @property
    def viewpoint(self) -> tuple[bool, bool, str]:
        """A key that is equal for callers who may see the same."""
        whole = self._all_jobs and self.names_hosts
        return self._all_jobs, self.names_hosts, "" if whole else self._project

    def host(self, name: str) -> str:
        """The name of a host, or the id that hides it, always the same within a project.

        Made as Nova makes the `hostId` that it shows tenants.
        """
        if self.names_hosts:
            return name
        return hashlib.sha224(f"{self._project}{name}".encode()).hexdigest()

    def shows(self, job: Job) -> bool:
        """Whether the caller may know which job it is."""
        return self._all_jobs or (bool(self._project) and job.project_id == self._project)
