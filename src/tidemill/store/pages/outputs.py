"""What stages produced, written set by set: pages, raw records and staged records."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import Job
from tidemill.core.page import Page
from tidemill.core.quality.readings import PoorerReading, ReadingShape
from tidemill.core.verdict import Dropped
from tidemill.pipeline.checkpoints import Fetched, Judged, Parsed, Unchanged
from tidemill.store.database.codecs import codecs_of
from tidemill.store.database.hot_statements import HotRows
from tidemill.store.pages.bodies import Bodies, Body, body_key
from tidemill.store.pages.output_files import Made
from tidemill.store.schema import page_screenshots, pages, raw_records, staged_records

HEADERS_THAT_MATTER = ("etag", "last-modified", "content-language", "retry-after", "location", "server", "date")
MILLISECOND = timedelta(milliseconds=1)

_encode = msgspec.json.Encoder().encode
INSERT_PAGES = HotRows("pages.insert", codecs_of(pages), "INSERT INTO raw_pages ({columns}) {rows}")


class StagedRecord(msgspec.Struct, frozen=True):
    """An accepted record as it is stored between normalize and persist."""

    identity: str
    record: msgspec.Raw


class Staged(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page's accepted records as they are stored between normalize and persist."""

    reader: str
    accepted: Sequence[StagedRecord]
    truncated: bool = False
    total: int | None = None
    next_url: str | None = None
    unusable: bool = False
    shape: ReadingShape | None = None
    poorer: PoorerReading | None = None


class StagedIdentity(msgspec.Struct, frozen=True):
    """As much of a staged record as 'seen again' needs."""

    identity: str


class StagedIdentities(msgspec.Struct, frozen=True):
    """A staged page, identities only, and where its list went on."""

    accepted: Sequence[StagedIdentity]
    next_url: str | None = None


decode_identities = msgspec.json.Decoder(StagedIdentities).decode
decode_staged = msgspec.json.Decoder(Staged).decode


async def write_pages(
    connection: AsyncConnection, bodies: Bodies, got: Sequence[tuple[Job, Fetched | Unchanged, str | None]]
) -> None:
    """Store the pages: bodies first, then their rows."""
    wires = [fetched.result.wire_body for _, fetched, _ in got]
    keys = [body_key(wire) for wire in wires]
    encodings = [fetched.result.content_encoding for _, fetched, _ in got]
    await bodies.put(connection, [Body(*each) for each in zip(keys, wires, encodings, strict=True)])
    rows = [
        page_row(job, fetched, failure, key) for (job, fetched, failure), key in zip(got, keys, strict=True)
    ]  # fmt: skip
    await INSERT_PAGES.write_at_commit(connection, rows)
    if pictures := [screenshot_row(fetched) for _, fetched, _ in got if fetched.result.screenshot]:
        await connection.execute(page_screenshots.insert(), pictures)


def screenshot_row(fetched: Fetched | Unchanged) -> dict[str, Any]:
    """What a browser showed, beside the page that it goes with."""
    page = fetched.page
    return {"page_id": page.id, "picture": fetched.result.screenshot, "created_at": page.fetched_at}


def page_row(job: Job, fetched: Fetched | Unchanged, failure: str | None, key: bytes) -> dict[str, Any]:
    """A page's row."""
    page, result = fetched.page, fetched.result
    return {
        "id": page.id,
        "job_id": job.id,
        "source_id": job.source_id,
        "target_id": job.target_id,
        "url": page.url,
        "final_url": page.final_url,
        "status_code": page.status_code,
        "headers": {name: result.headers[name] for name in HEADERS_THAT_MATTER if name in result.headers},
        "content_type": page.content_type,
        "charset": page.charset,
        "fetcher_used": result.fetcher,
        "fetch_duration_ms": result.duration // MILLISECOND,
        "content_hash": page.digest,
        "body_key": key,
        "body_length": len(page.body),
        "failure": failure,
        "created_at": page.fetched_at,
    }


def page_of(row: Any, body: bytes) -> Page:
    """A page read back: what a restart works on."""
    return Page(
        id=row["id"],
        url=row["url"],
        final_url=row["final_url"],
        status_code=row["status_code"],
        body=body,
        charset=row["charset"],
        content_type=row["content_type"],
        digest=row["content_hash"],
        fetched_at=row["created_at"],
        etag=row["headers"].get("etag", ""),
        last_modified=row["headers"].get("last-modified", ""),
    )


def raw_rows(parsed: Sequence[tuple[Job, Parsed]], now: datetime) -> Made:
    """What parsing yielded, a page's records in one row."""
    rows = [
        {
            "page_id": each.page.id,
            "job_id": job.id,
            "adapter_id": each.adapter_id,
            "adapter_version": each.adapter_version,
            "strategy": each.found.strategy,
            "records": each.found.records,
            "found": each.found.encoded,
            "created_at": now,
        }
        for job, each in parsed
    ]
    return raw_records.c.found, rows


def staged_rows(judged: Sequence[tuple[Job, Judged]], now: datetime) -> Made:
    """What normalizing yielded, a page's records in one row."""
    rows = []
    for job, each in judged:
        dropped = sum(isinstance(one.verdict, Dropped) for one in each.rejected)
        rows.append(
            {
                "page_id": each.page.id,
                "job_id": job.id,
                "accepted": len(each.accepted),
                "dropped": dropped,
                "quarantined": len(each.rejected) - dropped,
                "staged": _encode(staged_of(each)),
                "created_at": now,
            }
        )
    return staged_records.c.staged, rows


def staged_of(judged: Judged) -> Staged:
    """The accepted records, each encoded already."""
    accepted = [StagedRecord(each.identity, msgspec.Raw(each.encoded)) for each in judged.accepted]
    return Staged(
        judged.reader, accepted, judged.truncated, judged.total, judged.next_url, judged.unusable, judged.shape,
        judged.poorer,
    )  # fmt: skip
