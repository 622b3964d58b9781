"""The history of records, rejected records and pages, read for people."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.record import Found
from tidemill.core.views import HistoryView, PageDetail, PageView, RejectedFilter, RejectedView
from tidemill.pipeline.kept_readings import decode_found
from tidemill.store.pages.output_files import Outputs
from tidemill.store.schema import pages, raw_records, record_history, rejected_records, sources
from tidemill.store.schema.view_columns import view_columns
from tidemill.store.views.work import reading_of

HISTORY_SHOWN = 1_000

_NAMED = func.coalesce(sources.c.name, "").label("source_name")
_PAGES = select(
    *view_columns(
        PageView,
        pages,
        fetcher=pages.c.fetcher_used,
        duration_ms=pages.c.fetch_duration_ms,
        length=pages.c.body_length,
    ),
    _NAMED,
).select_from(pages.outerjoin(sources, sources.c.id == pages.c.source_id))
_REJECTED = select(*view_columns(RejectedView, rejected_records), _NAMED).select_from(
    rejected_records.outerjoin(sources, sources.c.id == rejected_records.c.source_id)
)


async def record_changes(connection: AsyncConnection, vertical: str, record_id: int) -> list[HistoryView]:
    """The changes of a vertical's record, oldest first."""
    query = (
        select(*view_columns(HistoryView, record_history))
        .where(record_history.c.vertical == vertical, record_history.c.record_id == record_id)
        .order_by(record_history.c.id)
        .limit(HISTORY_SHOWN)
    )
    return [HistoryView(**row) for row in (await connection.execute(query)).mappings()]


async def list_rejected(
    connection: AsyncConnection, which: RejectedFilter, before: int | None, limit: int
) -> list[RejectedView]:
    """The newest rejected records first."""
    query = _REJECTED.order_by(rejected_records.c.id.desc()).limit(limit)
    for name in which.__struct_fields__:
        if (value := getattr(which, name)) is not None:
            query = query.where(rejected_records.c[name] == value)
    if before is not None:
        query = query.where(rejected_records.c.id < before)
    return [RejectedView(**row) for row in (await connection.execute(query)).mappings()]


async def list_pages(
    connection: AsyncConnection, target_id: int | None, source_id: int | None, before: int | None, limit: int
) -> list[PageView]:
    """The newest pages first."""
    query = _PAGES.order_by(pages.c.id.desc()).limit(limit)
    if target_id is not None:
        query = query.where(pages.c.target_id == target_id)
    if source_id is not None:
        query = query.where(pages.c.source_id == source_id)
    if before is not None:
        query = query.where(pages.c.id < before)
    return [PageView(**row) for row in (await connection.execute(query)).mappings()]


async def one_page(connection: AsyncConnection, page_id: int) -> PageDetail | None:
    """A page with what was made of it; None once retention has let it go."""
    row = (await connection.execute(_PAGES.where(pages.c.id == page_id))).mappings().first()
    if row is None:
        return None
    return PageDetail(page=PageView(**row), reading=await reading_of(connection, page_id))


async def found_on(connection: AsyncConnection, outputs: Outputs, page_id: int) -> Found | None:
    """The raw records that were read from a page; None once retention has let them go."""
    stored = await outputs.get(connection, raw_records.c.found, page_id)
    return None if stored is None else decode_found(stored)
