"""Discovery, places, links between events, proposals, and lists over several pages."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.migrations.data import municipalities

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add what events and discovery need."""
    _pages_of_lists()
    _discovery()
    _enrichment()
    _cards()
    _proposals()


def downgrade() -> None:
    """Take it away again."""
    for table in ("selector_proposals", "event_words", "event_links", "event_cards"):
        op.drop_table(table)
    op.drop_index("ix_events_updated", "events")
    for table in ("enrichment_wants", "model_answers", "geocodes"):
        op.drop_table(table)
    for table in ("source_candidates", "search_results", "municipalities"):
        op.drop_table(table)
    op.drop_table("target_pages")
    with op.batch_alter_table("pipeline_jobs") as jobs:
        jobs.drop_constraint("uq_pipeline_jobs_target_id_due_at_page_number", type_="unique")
        jobs.drop_column("page_number")
        jobs.create_unique_constraint("uq_pipeline_jobs_target_id_due_at", ["target_id", "due_at"])
    op.drop_column("scrape_runs", "pages_followed")
    op.drop_column("scraper_sources", "max_pages")


def _pages_of_lists() -> None:
    """A job is one page of a target's list; the further pages have something of their own to compare with."""
    op.add_column("scraper_sources", sa.Column("max_pages", sa.Integer(), nullable=True))
    op.add_column("scrape_runs", sa.Column("pages_followed", sa.Integer(), server_default="0", nullable=False))
    with op.batch_alter_table("pipeline_jobs") as jobs:
        jobs.add_column(sa.Column("page_number", sa.Integer(), server_default="1", nullable=False))
        jobs.drop_constraint("uq_pipeline_jobs_target_id_due_at", type_="unique")
        jobs.create_unique_constraint(
            "uq_pipeline_jobs_target_id_due_at_page_number", ["target_id", "due_at", "page_number"]
        )
    op.create_table(
        "target_pages",
        sa.Column("target_id", Key, autoincrement=False, nullable=False),
        sa.Column("page_number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("etag", sa.Text(), server_default="", nullable=False),
        sa.Column("last_modified", sa.Text(), server_default="", nullable=False),
        sa.Column("good_page_id", Key, nullable=True),
        sa.Column("good_digest", sa.BigInteger(), nullable=True),
        sa.Column("good_reader", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["target_id"], ["scrape_targets.id"], name=op.f("fk_target_pages_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("target_id", "page_number", name=op.f("pk_target_pages")),
    )


def _cards() -> None:
    """Events as readers see them, whichever sources tell of them, and the words they are found by."""
    op.create_index("ix_events_updated", "events", ["updated_at", "id"])
    op.create_table(
        "event_cards",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("event_date", Timestamp(timezone=True), nullable=False),
        sa.Column("ends_at", Timestamp(timezone=True), nullable=True),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("latitude", sa.Float(), nullable=True),
        sa.Column("longitude", sa.Float(), nullable=True),
        sa.Column("square", sa.Integer(), nullable=True),
        sa.Column("sources", sa.Integer(), nullable=False),
        sa.Column("reliability", sa.Float(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("card", sa.LargeBinary(), nullable=False),
        sa.Column("updated_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event_cards")),
    )
    op.create_index("ix_event_cards_date", "event_cards", ["event_date", "id"])
    looked_at = ["square", "event_date", "id", "category", "latitude", "longitude"]
    op.create_index("ix_event_cards_square", "event_cards", looked_at)
    op.create_index("ix_event_cards_category", "event_cards", ["category", "event_date", "id"])
    op.create_table(
        "event_links",
        sa.Column("event_id", Key, autoincrement=False, nullable=False),
        sa.Column("card_id", Key, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("as_of", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("event_id", name=op.f("pk_event_links")),
    )
    op.create_index("ix_event_links_card", "event_links", ["card_id"])
    op.create_index("ix_event_links_source", "event_links", ["source_id", "card_id"])
    op.create_table(
        "event_words",
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("event_date", Timestamp(timezone=True), nullable=False),
        sa.Column("card_id", Key, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("word", "event_date", "card_id", name=op.f("pk_event_words")),
        sqlite_with_rowid=False,
    )


def _proposals() -> None:
    """Selectors that may take the place of those that no longer fit."""
    op.create_table(
        "selector_proposals",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("target_id", Key, nullable=False),
        sa.Column("page_id", Key, nullable=False),
        sa.Column("good_page_id", Key, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("diagnosis", sa.Text(), nullable=False),
        sa.Column("before", Json(), nullable=False),
        sa.Column("after", Json(), nullable=True),
        sa.Column("confidence", sa.Float(), server_default="0", nullable=False),
        sa.Column("lost", Json(), nullable=False),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.Column("decided_at", Timestamp(timezone=True), nullable=True),
        sa.Column("decided_by", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_selector_proposals")),
        sa.UniqueConstraint("page_id", name=op.f("uq_selector_proposals_page_id")),
    )
    op.create_index("ix_selector_proposals_source", "selector_proposals", ["source_id", "status"])


def _discovery() -> None:
    """The municipalities, filled in; what was searched for; and the candidates for review."""
    places = op.create_table(
        "municipalities",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("population", sa.Integer(), nullable=False),
        sa.Column("latitude", sa.Float(), nullable=False),
        sa.Column("longitude", sa.Float(), nullable=False),
        sa.Column("spoken", sa.Text(), server_default="", nullable=False),
        sa.Column("searched_at", Timestamp(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_municipalities")),
    )
    op.bulk_insert(places, municipalities())
    op.create_table(
        "search_results",
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("asked_at", Timestamp(timezone=True), nullable=False),
        sa.Column("answered_at", Timestamp(timezone=True), nullable=True),
        sa.Column("hits", Json(), nullable=True),
        sa.PrimaryKeyConstraint("query", name=op.f("pk_search_results")),
    )
    op.create_table(
        "source_candidates",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("canonical_url", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Float(), server_default="0", nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("reasons", Json(), nullable=False),
        sa.Column("samples", Json(), nullable=False),
        sa.Column("found_at", Timestamp(timezone=True), nullable=False),
        sa.Column("decided_at", Timestamp(timezone=True), nullable=True),
        sa.Column("decided_by", sa.Text(), server_default="", nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("source_id", Key, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_source_candidates")),
        sa.UniqueConstraint("canonical_url", name=op.f("uq_source_candidates_canonical_url")),
    )
    op.create_index("ix_source_candidates_status", "source_candidates", ["status", "confidence"])
    op.create_index("ix_source_candidates_site", "source_candidates", ["site"])


def _enrichment() -> None:
    """What records still lack, and the answers."""
    op.create_table(
        "geocodes",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("latitude", sa.Float(), nullable=True),
        sa.Column("longitude", sa.Float(), nullable=True),
        sa.Column("exact", sa.Boolean(), nullable=False),
        sa.Column("answered_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_geocodes")),
    )
    op.create_table(
        "model_answers",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("sureness", sa.Float(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("answered_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_model_answers")),
    )
    op.create_table(
        "enrichment_wants",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject_id", Key, autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("run_id", Key, nullable=False),
        sa.Column("question", Json(), nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("not_before", Timestamp(timezone=True), nullable=False),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("kind", "subject_id", "key", name=op.f("pk_enrichment_wants")),
    )
    op.create_index("ix_enrichment_wants_due", "enrichment_wants", ["kind", "not_before"])
    op.create_index("ix_enrichment_wants_key", "enrichment_wants", ["kind", "key"])
