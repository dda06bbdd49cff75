"""The columns that say whether a job is in the queue yet, and at which place."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import JSON, String, false
from sqlalchemy.orm import Mapped, mapped_column

from nova_twotier.core.qos import NORMAL
from nova_twotier.db import dependencies
from nova_twotier.db.dependencies import Dependency


class Queueing:
    """Maps what keeps a job out of the queue, and its place there, to columns of its table."""

    submitted_at: Mapped[float]
    #: A held job neither starts nor, after an eviction, restarts until it is released.
    held: Mapped[bool] = mapped_column(default=False, server_default=false())
    #: It is not in the queue yet: a gate keeps it out, see `manager.gates`.
    gated: Mapped[bool] = mapped_column(default=False, server_default=false())
    #: It is not in the queue before this time; None: it may be from its submission on.
    begin_at: Mapped[float | None]
    dependencies_data: Mapped[list[dict[str, Any]] | None] = mapped_column(
        "dependencies", JSON(none_as_null=True)
    )
    #: Its place in the queue: the time of its submission, of its release if it was held, or of the
    #: opening of its gates; or what was the place of another job of its project, see `priority`.
    eligible_at: Mapped[float] = mapped_column(
        default=lambda context: context.get_current_parameters()["submitted_at"],
        server_default="0",
    )
    #: Seconds by which fair share puts it behind that; None: not decided, it is not put behind.
    queue_offset: Mapped[float | None]
    #: Its `place` without priorities; None: that is its place.
    own_place: Mapped[float | None]
    #: The waiting jobs of a project share out their places by it, the highest first.
    priority: Mapped[int] = mapped_column(default=0, server_default="0")
    #: Its class of service, see `core.qos`: places are compared within one.
    qos: Mapped[str] = mapped_column(String(16), default=NORMAL, server_default=NORMAL)

    @property
    def dependencies(self) -> tuple[Dependency, ...]:
        """What must become of other jobs before it is in the queue."""
        return dependencies.load(self.dependencies_data or ())

    @dependencies.setter
    def dependencies(self, given: Iterable[Dependency]) -> None:
        self.dependencies_data = dependencies.dump(given)

    @property
    def came_through(self) -> bool:
        """Whether it has come into the queue through gates."""
        return self.begin_at is not None or self.dependencies_data is not None

    @property
    def exchanges(self) -> bool:
        """Whether it has a priority, or a place that was another job's because of one."""
        return bool(self.priority) or self.own_place is not None

    @property
    def place(self) -> float:
        """Its place in the queue with fair share, in seconds since the epoch."""
        return self.eligible_at + (self.queue_offset or 0.0)

    def enter_queue(self, since: float) -> None:
        """Give it the place of a job that arrives now.

        :param since: that place, in seconds since the epoch. It never moves forward: a clock may
            have stepped.
        """
        # A place that was another job's may be later than any arrival: it has an offset in it.
        least = self.eligible_at if self.own_place is None else self.submitted_at
        self._move(max(since, least))
        self.own_place = self.queue_offset = None

    def place_behind(self, offset: float) -> None:
        """Fix the seconds by which fair share puts it behind its arrival."""
        self.queue_offset = offset
        self._move(self.eligible_at)

    def take_place(self, at: float) -> None:
        """Give it a place that was another job's; it remembers its own."""
        if self.own_place is None:
            self.own_place = self.place
        if self.queue_offset:
            # The place that it takes has the offset of the other job in it.
            self.queue_offset = 0.0
        self._move(at)

    def _move(self, place: float) -> None:
        self.eligible_at = place
        # What policies see of it has changed.
        self.__dict__.pop("core", None)
