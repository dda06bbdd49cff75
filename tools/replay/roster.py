"""The jobs of this replay: what was asked for, and by what names the cloud knows it."""

from collections.abc import Iterator
from dataclasses import dataclass

from nova_twotier.core.jobs import Job, job_label
from nova_twotier.tools.replay.workload import ReplayJob


@dataclass(frozen=True, slots=True)
class Entry:
    """A submitted job: the number and the uuid that the queue gave it."""

    number: int
    uuid: str
    job: ReplayJob

    @property
    def label(self) -> str:
        """The job for people, as the manager's log has it."""
        return job_label(self.number, self.job.name)

    @property
    def size(self) -> int:
        return self.job.size

    def core(self) -> Job:
        """The job as the progress model sees it."""
        return Job(self.number, self.job.size, self.job.submit, self.job.cpu, name=self.job.name)


class Roster:
    """Entries by uuid (servers carry it) and by number (the queue's)."""

    def __init__(self):
        self._by_uuid: dict[str, Entry] = {}
        self._by_number: dict[int, Entry] = {}

    def add(self, entry: Entry) -> None:
        self._by_uuid[entry.uuid] = entry
        self._by_number[entry.number] = entry

    def find(self, uuid: str) -> Entry | None:
        return self._by_uuid.get(uuid)

    def __contains__(self, number: int) -> bool:
        return number in self._by_number

    def __getitem__(self, number: int) -> Entry:
        return self._by_number[number]

    def __iter__(self) -> Iterator[Entry]:
        """In the order of submission."""
        return iter(self._by_number.values())

    def __len__(self) -> int:
        return len(self._by_number)
