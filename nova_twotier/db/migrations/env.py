"""Read by alembic: runs the migrations on the connection that `migration.py` hands over."""

from alembic import context

from nova_twotier.db.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
with context.begin_transaction():
    context.run_migrations()
