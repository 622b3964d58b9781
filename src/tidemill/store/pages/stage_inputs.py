"""What a resumed job works on: the last checkpoint's output, read back from the database."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.outcome import Stage
from tidemill.core.page import Page
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Vertical
from tidemill.pipeline.checkpoints import Claimed, Fetched, Judged, Parsed, Resumed
from tidemill.pipeline.kept_readings import KeptReading
from tidemill.pipeline.ports import FetchResult, FetchStatus
from tidemill.store.database.database import Database
from tidemill.store.pages.bodies import Bodies
from tidemill.store.pages.outputs import decode_staged, page_of
from tidemill.store.schema import pages, raw_records, staged_records

_PAGE = select(pages).where(pages.c.id == bindparam("b_page"))
_READER = select(raw_records.c.adapter_id, raw_records.c.adapter_version).where(
    raw_records.c.page_id == bindparam("b_page")
)


class StageInputs:
    """Reads back what jobs that were left behind need to go on."""

    def __init__(self, database: Database, bodies: Bodies, verticals: Mapping[str, Vertical]) -> None:
        """`verticals` know how to revive their own records."""
        self._database = database
        self._bodies = bodies
        self._verticals = verticals

    async def restore(self, claimed: Sequence[Claimed]) -> list[Resumed]:
        """Each job with its stage's input; None where the page is lost, which the worker fails as such."""
        async with self._database.glance() as connection:
            return [Resumed(each, await self._material(connection, each)) for each in claimed]

    async def page(self, page_id: int) -> Page | None:
        """A stored page with its body."""
        async with self._database.glance() as connection:
            return await self._page(connection, page_id)

    async def _material(self, connection: AsyncConnection, claimed: Claimed) -> Any:
        job = claimed.job
        page = await self._page(connection, job.page_id) if job.page_id is not None else None
        if page is None:
            return None
        match job.stage:
            case Stage.PARSE:
                return Fetched(page, FetchResult(status=FetchStatus.OK, url=page.url))
            case Stage.NORMALIZE:
                return await self._parsed(connection, page)
            case Stage.PERSIST:
                return await self._judged(connection, page, self._verticals[job.vertical])
            case _:
                return None

    async def _page(self, connection: AsyncConnection, page_id: int) -> Page | None:
        row = (await connection.execute(_PAGE, {"b_page": page_id})).mappings().one_or_none()
        if row is None:
            return None
        bodies = await self._bodies.get(connection, [row["body_key"]])
        return page_of(row, bodies[row["body_key"]]) if row["body_key"] in bodies else None

    async def _parsed(self, connection: AsyncConnection, page: Page) -> Parsed | None:
        reader = (await connection.execute(_READER, {"b_page": page.id})).mappings().one_or_none()
        found = await self._bodies.outputs.get(connection, raw_records.c.found, page.id)
        return None if reader is None or found is None else Parsed(page, **reader, found=KeptReading(found))

    async def _judged(self, connection: AsyncConnection, page: Page, vertical: Vertical) -> Judged | None:
        staged = await self._bodies.outputs.get(connection, staged_records.c.staged, page.id)
        if staged is None:
            return None
        kept = decode_staged(staged)
        accepted = [
            Accepted(one.identity, vertical.decode_record(bytes(one.record)), bytes(one.record))
            for one in kept.accepted
        ]
        return Judged(
            page, kept.reader, accepted, [], kept.truncated, kept.total, kept.next_url, kept.unusable, kept.shape,
            kept.poorer,
        )  # fmt: skip
