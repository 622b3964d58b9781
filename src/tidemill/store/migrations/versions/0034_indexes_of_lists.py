"""Indexes for lists that are filtered by what few of many rows have."""

from alembic import op

revision = "0034"
down_revision = "0033"

INDEXES = {
    "ix_dead_letter_queue_status": ("dead_letter_queue", ["status", "id"]),
    "ix_dead_letter_queue_error_type": ("dead_letter_queue", ["error_type", "id"]),
    "ix_scrape_targets_status": ("scrape_targets", ["status", "id"]),
    "ix_audit_log_actor": ("audit_log", ["actor", "id"]),
    "ix_audit_log_subject": ("audit_log", ["subject", "id"]),
}


def upgrade() -> None:
    """Take the step."""
    for name, (table, columns) in INDEXES.items():
        op.create_index(name, table, columns)


def downgrade() -> None:
    """Take it back."""
    for name, (table, _) in INDEXES.items():
        op.drop_index(name, table)
