"""Lists of jobs, of all projects or of one, are read in their order, page by page."""

from nova_twotier.db.migrations.steps import add_index, drop_index

revision = "0029"
down_revision = "0028"


def upgrade():
    add_index("job", "submitted_at", "number")
    add_index("job", "project_id", "submitted_at", "number")
    drop_index("job", "project_id")
