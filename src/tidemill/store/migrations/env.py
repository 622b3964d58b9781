"""How Alembic runs the steps of a chain: on the connection that `tidemill.store.database.migrate` hands over."""

from alembic import context

from tidemill.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=context.config.attributes["version_table"],
    render_as_batch=True,
    compare_type=False,
)
with context.begin_transaction():
    context.run_migrations()
