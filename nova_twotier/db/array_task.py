"""The columns that make a job a task of an array."""

from sqlalchemy import JSON
from sqlalchemy.orm import Mapped, mapped_column


class ArrayTask:
    """Maps a job's place in an array to columns of its table; all are None for a single job."""

    #: The number of the array, which is also that of its first task.
    array: Mapped[int | None] = mapped_column(index=True)
    array_index: Mapped[int | None]
    #: How many tasks the array has, and its smallest and its largest index.
    array_span: Mapped[list[int] | None] = mapped_column(JSON(none_as_null=True))

    @property
    def in_array(self) -> str | None:
        """Its name in its array, such as `12_3`; None for a single job."""
        return None if self.array is None else f"{self.array}_{self.array_index}"
