"""What an owner asked for is called the requested action."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade():
    op.alter_column("job", "wish", new_column_name="requested_action", existing_type=sa.String(16))
