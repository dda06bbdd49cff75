"""Requested actions are called so, and what is recorded of open actions has named fields."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_ACTION = sa.table(
    "action",
    *(sa.column("id", sa.Integer), sa.column("kind", sa.String), sa.column("state", sa.String)),
    *(sa.column("plan", sa.JSON), sa.column("begun", sa.JSON)),
)
#: What a request that was counted by the id of a server alone was for.
_PURPOSE = {"start": "restore", "evict": "save", "migrate": "migrate", "end": "delete"}
_RENAMED = {
    "told": "public_reason",
    "left": "vacated_at",
    "at": "booted_at",
    "suspended": "was_suspended",
    "refused": "refusal",
    "crowded": "crowded_out",
    "before": "waited_for",
}


def upgrade():
    connection = op.get_bind()
    # MariaDB commits the new name at once, but what follows only with the version: whoever is
    # killed between the two leaves this much done.
    if "wish" in {each["name"] for each in sa.inspect(connection).get_columns("job")}:
        op.alter_column(
            "job", "wish", new_column_name="requested_action", existing_type=sa.String(16)
        )
    # Nobody reads what is recorded of the others, and there may be very many of them.
    still_open = sa.select(_ACTION).where(_ACTION.c.state == "expected")
    for row in connection.execute(still_open).all():
        changed = {"plan": _plan(row.kind, row.plan), "begun": _progress(row.kind, row.begun)}
        connection.execute(sa.update(_ACTION).where(_ACTION.c.id == row.id).values(**changed))


def _plan(kind, plan):
    match kind:
        case "start":
            return {"hosts": [], "links": {}, **plan}
        case "evict":
            return {
                "by": plan["by"],
                "mode": plan.get("mode", "shelve"),
                "repairs": plan.get("mend", False),
            }
        case "swap":
            return {"changes": [{**each, "vms": list(each["vms"])} for each in plan["swaps"]]}
    return plan


def _progress(kind, begun):
    progress, attempts = {}, {}
    for key, value in (begun or {}).items():
        if key == "undoing":
            progress[key] = value
        elif key in _RENAMED:
            progress[_RENAMED[key]] = value
        else:
            attempts[key if _has_purpose(key) else f"{_PURPOSE[kind]} {key}"] = value
    if refusal := progress.get("refusal"):
        progress["refusal"] = {
            "reason": refusal["reason"],
            "public_reason": refusal["told"],
            "unfit": refusal["unfit"],
            "quota": refusal["quota"],
        }
    return progress | ({"attempts": attempts} if attempts else {})


def _has_purpose(key):
    return " " in key or key in ("boot", "group", "trust", "qos")
