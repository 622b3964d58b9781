"""How well proposed selectors read the last good pages, and the replay that shows it."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Key

revision = "0033"
down_revision = "0032"

COLUMNS = ("precision", "recall", "replay_id")


def upgrade() -> None:
    """Take the step."""
    for name in COLUMNS:
        kind = Key if name == "replay_id" else sa.Float()
        op.add_column("selector_proposals", sa.Column(name, kind))


def downgrade() -> None:
    """Take it back."""
    for name in COLUMNS:
        op.drop_column("selector_proposals", name)
