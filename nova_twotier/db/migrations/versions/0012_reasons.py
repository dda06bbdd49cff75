"""Reasons are codes with parameters; what earlier releases wrote keeps its words.

The column of the old texts of jobs stays, since an API of the release before may still read it.
"""

import re

import sqlalchemy as sa
from alembic import op

from nova_twotier.db.migrations.steps import add_column

revision = "0012"
down_revision = "0011"


def _table(name, key, text):
    """A table with the column of the old texts and the new ones."""
    new = sa.column("reason_code", sa.String), sa.column("reason_data", sa.JSON)
    return sa.table(name, sa.column(key, sa.Integer), sa.column(text, sa.Text), *new)


_JOB, _EVENT = _table("job", "number", "reason"), _table("event", "id", "detail")
_ACTION = sa.table(
    "action",
    *(sa.column("id", sa.Integer), sa.column("kind", sa.String), sa.column("state", sa.String)),
    *(sa.column("plan", sa.JSON), sa.column("begun", sa.JSON)),
)
#: Rows that are converted at once.
_PAGE = 1000
#: The name of a job in the old texts.
_LABEL = re.compile(r"\bjob (\d{1,18})\b")
#: Texts whose reasons no manager renews by itself.
_KNOWN = {"held until it is released": "held"}
_QUOTA = re.compile("waits for quota: its project has not enough (.*) left")
_SCATTERED = "the manager: its servers are not all at work in "


def upgrade():
    connection = op.get_bind()
    for table in ("job", "event"):
        add_column(table, sa.Column("reason_code", sa.String(32)))
        add_column(table, sa.Column("reason_data", sa.JSON))
    _convert(connection, _JOB, _JOB.c.number, _JOB.c.reason, bool)
    # The details that name no job can be read by everybody as they are.
    _convert(connection, _EVENT, _EVENT.c.id, _EVENT.c.detail, _LABEL.search)
    still_open = sa.select(_ACTION).where(_ACTION.c.state == "expected")
    for row in connection.execute(still_open).all():
        changed = {"plan": _plan(row.kind, row.plan), "begun": _progress(row.begun or {})}
        connection.execute(sa.update(_ACTION).where(_ACTION.c.id == row.id).values(**changed))


def _convert(connection, table, key, text, wanted):
    """Move those texts to the new columns that are wanted there."""
    last = -1
    query = sa.select(key, text).where(text != "").order_by(key).limit(_PAGE)
    new = {"reason_code": sa.bindparam("code"), "reason_data": sa.bindparam("data")}
    change = sa.update(table).where(key == sa.bindparam("row")).values({**new, text.name: ""})
    while rows := connection.execute(query.where(key > last)).all():
        last = rows[-1][0]
        found = [(row, _reason(words)) for row, words in rows if wanted(words)]
        if found:
            values = [{"row": row, "code": why["code"], "data": why} for row, why in found]
            connection.execute(change, values)


def _reason(words):
    """A reason that reads like a text, with the first job in it apart."""
    if not isinstance(words, str):
        return words
    if code := _KNOWN.get(words):
        return {"code": code}
    if quota := _QUOTA.fullmatch(words):
        return {"code": "quota", "parameters": {"resources": quota[1]}}
    label = _LABEL.search(words)
    if label is None:
        return {"code": "other", "parameters": {"before": words}}
    after = _LABEL.sub("another job", words[label.end() :])
    parts = {"before": words[: label.start()], **({"after": after} if after else {})}
    return {"code": "other", "parameters": parts, "by": int(label[1])}


def _plan(kind, plan):
    match kind:
        case "evict" if "by" in plan:
            rest = {name: value for name, value in plan.items() if name != "by"}
            return {**rest, "reason": _preemption(plan["by"])}
        case "swap":
            return {"changes": [{**each, "by": _number(each["by"])} for each in plan["changes"]]}
        case "relocate":
            return {**plan, "by": _number(plan["by"])}
        case "power on" | "end":
            return {**plan, "reason": _reason(plan["reason"]) if plan["reason"] else None}
    return plan


def _preemption(by):
    if by.startswith("itself"):
        return {"code": "to-foreground"}
    if by.startswith(_SCATTERED):
        return {"code": "scattered", "parameters": {"tier": by.removeprefix(_SCATTERED)}}
    if label := _LABEL.fullmatch(by):
        return {"code": "preempted", "by": int(label[1])}
    return _reason(f"preempted by {by}")


def _number(by):
    label = _LABEL.search(by) if isinstance(by, str) else None
    return int(label[1]) if label else by


def _progress(begun):
    found = dict(begun)
    public = found.pop("public_reason", "")
    if words := found.get("undoing"):
        found["undoing"] = _reason(public or words)
        if public:
            found["detail"] = words
    if words := found.get("waited_for"):
        found["waited_for"] = _reason(words)
    refusal = found.get("refusal")
    if refusal and "quota" in refusal:
        found["refusal"] = {
            "reason": _reason(refusal["public_reason"] or refusal["reason"]),
            "detail": refusal["reason"],
            "unfit": refusal["unfit"],
        }
    return found
