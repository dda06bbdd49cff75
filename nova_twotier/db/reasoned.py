"""The columns of tables whose rows have a reason."""

from typing import Any

from sqlalchemy import JSON, String
from sqlalchemy.orm import Mapped, mapped_column

from nova_twotier.core import reasons
from nova_twotier.core.reasons import Reason


class Reasoned:
    """Maps `reason`, a `core.reasons.Reason`, to the columns of a table."""

    #: For the attribute that is no column.
    __allow_unmapped__ = True

    #: The code is a column of its own so that rows can be counted by it.
    reason_code: Mapped[str | None] = mapped_column(String(32))
    reason_data: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))

    #: The data that was last read or written, with the reason that it stands for.
    _reason: tuple[dict[str, Any], Reason] | None = None

    @property
    def reason(self) -> Reason | None:
        data = self.reason_data
        if data is None:
            return None
        if self._reason is None or self._reason[0] is not data:
            self._reason = data, reasons.load(data)
        return self._reason[1]

    @reason.setter
    def reason(self, reason: Reason | None) -> None:
        # Ten thousand jobs may get the reasons that they have: none of them is to be written.
        if reason == self.reason:
            return
        if reason is None:
            self.reason_code = self.reason_data = self._reason = None
            return
        self.reason_code, self.reason_data = reason.code.name, reasons.dump(reason)
        self._reason = self.reason_data, reason
