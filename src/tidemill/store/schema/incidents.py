"""What people are told: incidents with what was said about them, rounds of runs, and messages on their way out."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata, partial

incidents = Table(
    "incidents",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("alert", Text, nullable=False),
    Column("severity", Text, nullable=False),
    Column("cause", Text, nullable=False),
    Column("vertical", Text, nullable=False, server_default=""),
    Column("detail", Text, nullable=False),
    Column("subjects", Json, nullable=False, server_default="[]"),
    Column("adapter_id", Text),
    Column("source_id", Key),
    Column("rule", Text, nullable=False, server_default=""),
    Column("field", Text, nullable=False, server_default=""),
    Column("run_id", Key),
    Column("times", Integer, nullable=False, server_default="1"),
    Column("opened_at", Timestamp, nullable=False),
    Column("last_seen_at", Timestamp, nullable=False),
    Column("closed_at", Timestamp),
    Column("closed_by", Text),
    Column("told_at", Timestamp),
    Column("was_sent", Boolean, nullable=False, server_default=false()),
    Column("is_settled", Boolean, nullable=False, server_default=false()),
    Column("acknowledged_at", Timestamp),
    Column("acknowledged_by", Text),
    Column("snoozed_until", Timestamp),
)
"""One table for all: an incident of drift has its `rule`, which the end of a run opens and closes it by.

`told_at` is when people were last told of it, `is_settled` that it is over and nothing more is to be said."""
partial("ix_incidents_drift", "closed_at IS NULL AND rule <> ''", incidents.c.adapter_id, incidents.c.source_id)
partial("ix_incidents_open", "closed_at IS NULL", incidents.c.severity, incidents.c.id)
partial("ix_incidents_unsettled", "NOT is_settled", incidents.c.cause)
Index(
    "uq_incidents_open",
    incidents.c.alert,
    incidents.c.cause,
    unique=True,
    sqlite_where=text("closed_at IS NULL AND rule = ''"),
    postgresql_where=text("closed_at IS NULL AND rule = ''"),
)

incident_notes = Table(
    "incident_notes",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("incident_id", Key, ForeignKey("incidents.id", ondelete="CASCADE"), nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
)
"""What people did about an incident and said of it."""
Index("ix_incident_notes_incident", incident_notes.c.incident_id, incident_notes.c.id)

run_rounds = Table(
    "run_rounds",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("vertical", Text, nullable=False),
    Column("started_at", Timestamp, nullable=False),
    Column("last_started_at", Timestamp, nullable=False),
    Column("completed_at", Timestamp, nullable=False),
    Column("runs", Integer, nullable=False),
    Column("summary", Json, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    UniqueConstraint("vertical", "started_at"),
)
"""The runs that one dispatch opened, or those of a day, with the summary that was sent of them."""

alert_outbox = Table(
    "alert_outbox",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("channel", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("severity", Text, nullable=False),
    Column("notice", Json, nullable=False),
    Column("is_digest", Boolean, nullable=False, server_default=false()),
    Column("status", Text, nullable=False, server_default="pending"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("send_after", Timestamp, nullable=False),
    Column("sending_since", Timestamp),
    Column("next_try_at", Timestamp),
    Column("sent_at", Timestamp),
    Column("last_error", Text, nullable=False, server_default=""),
    Column("created_at", Timestamp, nullable=False),
    UniqueConstraint("channel", "key"),
)
"""Messages by channel, in order. `sending_since` is set while one is being sent: whoever finds it old cannot know."""
partial("ix_alert_outbox_pending", "status = 'pending'", alert_outbox.c.channel, alert_outbox.c.id)
Index("ix_alert_outbox_created", alert_outbox.c.created_at)

objective_hours = Table(
    "objective_hours",
    metadata,
    Column("objective", Text, primary_key=True),
    Column("hour", Timestamp, primary_key=True),
    Column("counted", BigInteger, nullable=False),
    Column("bad", BigInteger, nullable=False),
    Column("active", BigInteger, nullable=False, server_default="0"),
    Column("checked", BigInteger, nullable=False, server_default="0"),
    Column("updated_at", Timestamp, nullable=False),
)
"""An hour of a freshness objective: bit n of `counted` and `bad` is minute n; `active` and `checked` are records."""
