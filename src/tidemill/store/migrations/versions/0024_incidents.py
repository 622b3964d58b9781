"""One table of incidents for alerts and drift, notes about them, rounds of runs, and messages on their way out."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json, Key, Timestamp

revision = "0024"
down_revision = "0023"

OPEN_ALERT = "closed_at IS NULL AND rule = ''"
ALERTS = {
    "failures": ("failure_rate", "P2"),
    "no_records": ("no_records", "P2"),
    "zero_price": ("zero_price", "P1"),
    "worse_than_usual": ("worse_than_usual", "P3"),
    "field_share": ("field_share", "P2"),
    "watched": ("failure_rate", "P2"),
    "short_list": ("short_list", "P2"),
    "selectors": ("selector_failing", "P3"),
}
"""What the incidents of drift were called, and which alert each is now."""


def upgrade() -> None:
    """Take the step."""
    _incidents()
    _move_drift()
    op.create_table(
        "incident_notes",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("incident_id", Key, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_incident_notes")),
        sa.ForeignKeyConstraint(
            ["incident_id"], ["incidents.id"], ondelete="CASCADE", name=op.f("fk_incident_notes_incident_id")
        ),
    )
    op.create_index("ix_incident_notes_incident", "incident_notes", ["incident_id", "id"])
    op.create_table(
        "run_rounds",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("started_at", Timestamp(), nullable=False),
        sa.Column("last_started_at", Timestamp(), nullable=False),
        sa.Column("completed_at", Timestamp(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.Column("summary", Json, nullable=False),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run_rounds")),
        sa.UniqueConstraint("vertical", "started_at", name=op.f("uq_run_rounds_vertical_started_at")),
    )
    _outbox()
    op.create_index("ix_scrape_runs_started", "scrape_runs", ["started_at"])
    op.add_column("workers", sa.Column("clock_skew_ms", sa.BigInteger()))


def _incidents() -> None:
    op.create_table(
        "incidents",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("alert", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("vertical", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("subjects", Json, server_default="[]", nullable=False),
        sa.Column("adapter_id", sa.Text()),
        sa.Column("source_id", Key),
        sa.Column("rule", sa.Text(), server_default="", nullable=False),
        sa.Column("field", sa.Text(), server_default="", nullable=False),
        sa.Column("run_id", Key),
        sa.Column("times", sa.Integer(), server_default="1", nullable=False),
        sa.Column("opened_at", Timestamp(), nullable=False),
        sa.Column("last_seen_at", Timestamp(), nullable=False),
        sa.Column("closed_at", Timestamp()),
        sa.Column("closed_by", sa.Text()),
        sa.Column("told_at", Timestamp()),
        sa.Column("was_sent", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_settled", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("acknowledged_at", Timestamp()),
        sa.Column("acknowledged_by", sa.Text()),
        sa.Column("snoozed_until", Timestamp()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_incidents")),
    )
    _partial_index("ix_incidents_drift", "incidents", ["adapter_id", "source_id"], "closed_at IS NULL AND rule <> ''")
    _partial_index("ix_incidents_unsettled", "incidents", ["cause"], "NOT is_settled")
    _partial_index("uq_incidents_open", "incidents", ["alert", "cause"], OPEN_ALERT, unique=True)


def _partial_index(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    op.create_index(name, table, columns, unique=unique, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _move_drift() -> None:
    """Take over the incidents of drift; those that are over are settled, the others are told."""
    same = (
        "id, adapter_id, source_id, rule, field, detail, run_id, times, opened_at, last_seen_at, closed_at, closed_by"
    )
    mine = ", ".join(f"q.{name}" for name in same.split(", "))
    alert = " ".join(f"WHEN '{rule}' THEN '{name}'" for rule, (name, _) in ALERTS.items())
    severity = " ".join(f"WHEN '{rule}' THEN '{urgency}'" for rule, (_, urgency) in ALERTS.items())
    op.execute(
        f"INSERT INTO incidents ({same}, alert, severity, cause, vertical, is_settled) "  # noqa: S608 - our own words
        f"SELECT {mine}, CASE q.rule {alert} ELSE 'worse_than_usual' END, CASE q.rule {severity} ELSE 'P3' END, "
        "'adapter ' || q.adapter_id, coalesce(s.vertical, ''), q.closed_at IS NOT NULL "
        "FROM quality_incidents q LEFT JOIN scraper_sources s ON s.id = q.source_id"
    )
    op.drop_table("quality_incidents")


def _outbox() -> None:
    op.create_table(
        "alert_outbox",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("notice", Json, nullable=False),
        sa.Column("is_digest", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("send_after", Timestamp(), nullable=False),
        sa.Column("sending_since", Timestamp()),
        sa.Column("next_try_at", Timestamp()),
        sa.Column("sent_at", Timestamp()),
        sa.Column("last_error", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_outbox")),
        sa.UniqueConstraint("channel", "key", name=op.f("uq_alert_outbox_channel_key")),
    )
    _partial_index("ix_alert_outbox_pending", "alert_outbox", ["channel", "id"], "status = 'pending'")
    op.create_index("ix_alert_outbox_created", "alert_outbox", ["created_at"])


def downgrade() -> None:
    """Take it back; what is no drift is lost."""
    op.drop_column("workers", "clock_skew_ms")
    op.drop_index("ix_scrape_runs_started", "scrape_runs")
    op.drop_table("alert_outbox")
    op.drop_table("run_rounds")
    op.drop_table("incident_notes")
    op.create_table(
        "quality_incidents",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("field", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("run_id", Key, nullable=False),
        sa.Column("times", sa.Integer(), server_default="1", nullable=False),
        sa.Column("opened_at", Timestamp(), nullable=False),
        sa.Column("last_seen_at", Timestamp(), nullable=False),
        sa.Column("closed_at", Timestamp()),
        sa.Column("closed_by", sa.Text()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quality_incidents")),
    )
    _partial_index("ix_quality_incidents_open", "quality_incidents", ["adapter_id", "source_id"], "closed_at IS NULL")
    same = (
        "id, adapter_id, source_id, rule, field, detail, run_id, times, opened_at, last_seen_at, closed_at, closed_by"
    )
    op.execute(f"INSERT INTO quality_incidents ({same}) SELECT {same} FROM incidents WHERE rule <> ''")  # noqa: S608 - our own words
    op.drop_table("incidents")
