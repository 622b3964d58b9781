import csv
import io
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import pytest

from rig.clock import NOON, SettableClock
from rig.rows import put
from tidemill.store.database.database import open_database
from tidemill.store.database.keys import Ids
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.upkeep.audit import AuditLog
from tidemill.verticals.events import export
from tidemill.verticals.events.export import Exporter, Format, csv_lines
from tidemill.verticals.events.store.tables import events
from tidemill.verticals.events.store.views import EventViews
from tidemill.verticals.events.views import EventFilter, EventView

pytestmark = pytest.mark.shows("A5")


def event(key: int, title: str = "Jazz") -> EventView:
    record = {"title": title, "description": "line\nline", "detail_url": "https://x.example/1", "image_url": None}
    return EventView(
        id=key,
        source_id=1,
        source_name="jazzclub",
        identity=str(key),
        title=title,
        event_date=NOON,
        ends_at=None,
        event_time="20:00",
        venue_name="Zaal",
        category="music",
        latitude=None,
        longitude=None,
        status="scheduled",
        page_id=1,
        first_seen_at=NOON,
        last_seen_at=NOON,
        updated_at=NOON,
        times_seen=1,
        missed_runs=0,
        gone_at=None,
        record=msgspec.Raw(msgspec.json.encode(record)),
    )


def row(key: int) -> dict[str, Any]:
    """The event as the table holds it."""
    values = msgspec.structs.asdict(event(key))
    del values["source_name"]
    identity = {"identity_hash": key, "event_fingerprint": str(key), "checksum": key}
    return values | identity | {"record": bytes(values["record"])}


@pytest.fixture
async def exporter(migrated_sqlite_url: str, clock: SettableClock) -> AsyncIterator[Exporter]:
    database = open_database(migrated_sqlite_url)
    ids = Ids(database)
    yield Exporter(EventViews(database), SourceRepository(database, ids), AuditLog(database, ids), clock)
    await database.close()


def cells(page: Sequence[EventView]) -> list[list[str]]:
    return list(csv.reader(io.StringIO(csv_lines(page).decode())))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 20])
async def test_every_event_is_written_once_a_page_in_memory_at_a_time(
    exporter: Exporter, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PAGE_SIZE", 7)
    if count:
        await put(exporter._views._database, events, *(row(key) for key in range(1, count + 1)))
    pieces = [piece.splitlines() async for piece in exporter.events(EventFilter(), Format.JSONL)]
    keys = [msgspec.json.decode(line)["id"] for piece in pieces for line in piece]
    assert keys == list(range(1, count + 1))
    assert all(len(piece) <= 7 for piece in pieces)


async def test_an_empty_csv_still_has_its_header(exporter: Exporter) -> None:
    pieces = [piece async for piece in exporter.events(EventFilter(), Format.CSV)]
    assert pieces == [",".join(export.COLUMNS).encode() + b"\r\n"]


def test_a_csv_row_has_a_cell_per_column_and_survives_line_ends() -> None:
    row = dict(zip(export.COLUMNS, cells([event(1)])[0], strict=True))
    assert row["description"] == "line\nline"
    assert row["event_date"] == NOON.isoformat()
    assert row["image_url"] == ""


@pytest.mark.parametrize("title", ["=cmd()", "+1", "-1", "@x", "\tx"])
def test_scraped_text_never_becomes_a_formula(title: str) -> None:
    assert cells([event(1, title)])[0][1] == "'" + title
