"""Which lanes each worker takes jobs of, so that a process without any is no worker to wait for."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Take the step."""
    op.add_column("workers", sa.Column("lanes", sa.Text()))


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("workers") as table:
        table.drop_column("lanes")
