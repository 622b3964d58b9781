"""Products, offers and prices."""

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Nothing yet."""


def downgrade() -> None:
    """Nothing yet."""
