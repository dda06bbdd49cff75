"""Jobs may have webhooks; events are delivered to them, and to the operator's message bus."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column, add_index, create_table

revision = "0014"
down_revision = "0013"


def upgrade():
    add_column("job", sa.Column("webhook", sa.Text))
    add_column("job", sa.Column("webhook_secret", sa.String(255)))
    add_column("job", sa.Column("published", sa.Boolean, nullable=False, server_default=sa.false()))
    create_table(
        "delivery",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("event", sa.Integer, sa.ForeignKey("event.id"), nullable=False),
        sa.Column("route", sa.String(400), nullable=False),
        sa.Column("due_at", sa.Double, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("error", sa.String(255), nullable=False, server_default=""),
        indexed="event",
    )
    add_index("delivery", "due_at")
