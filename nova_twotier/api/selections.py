"""The jobs that a query or a body selects."""

from collections.abc import Mapping

from nova_twotier.api.validation import parse_time
from nova_twotier.db.selection import Selection


def selection(given: Mapping, project_id: str | None, *, active: bool | None = None) -> Selection:
    """
    :param given: the valid query or body, with the names of `selection_schemas`.
    :param project_id: whose jobs; None for those of all projects.
    """
    since, uuids = given.get("since"), given.get("uuids")
    return Selection(
        uuids=None if uuids is None else [uuid.lower() for uuid in uuids],
        project_id=project_id,
        user_id=given.get("user_id"),
        states=given.get("state"),
        classes=given.get("qos"),
        active=active,
        since=None if since is None else parse_time(since).timestamp(),
        name=given.get("name"),
        name_pattern=given.get("name_pattern"),
        pool=given.get("pool"),
        array=given.get("array"),
    )
