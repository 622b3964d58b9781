import csv
import io
from collections.abc import Sequence

import msgspec
import pytest

from rig.clock import NOON
from tidemill.verticals.events import export
from tidemill.verticals.events.export import Exporter, Format, csv_lines
from tidemill.verticals.events.views import EventCursor, EventFilter, EventView


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


class Events:
    """A repository of so many events that notes how many are asked for at once."""

    def __init__(self, count: int) -> None:
        self._all = [event(key) for key in range(1, count + 1)]
        self.most = 0

    async def events(
        self, _which: EventFilter | None = None, *, after: EventCursor | None = None, limit: int = 100
    ) -> list[EventView]:
        page = [one for one in self._all if after is None or one.id > after.id][:limit]
        self.most = max(self.most, len(page))
        return page


def cells(page: Sequence[EventView]) -> list[list[str]]:
    return list(csv.reader(io.StringIO(csv_lines(page).decode())))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 20])
async def test_every_event_is_written_once_a_page_in_memory_at_a_time(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "AT_ONCE", 7)
    repository = Events(count)
    lines = b"".join([piece async for piece in Exporter(repository).events(EventFilter(), Format.JSONL)]).splitlines()
    assert [msgspec.json.decode(line)["id"] for line in lines] == list(range(1, count + 1))
    assert repository.most <= 7


async def test_an_empty_csv_still_has_its_header() -> None:
    pieces = [piece async for piece in Exporter(Events(0)).events(EventFilter(), Format.CSV)]
    assert pieces == [",".join(export.COLUMNS).encode() + b"\r\n"]


def test_a_csv_row_has_a_cell_per_column_and_survives_line_ends() -> None:
    row = dict(zip(export.COLUMNS, cells([event(1)])[0], strict=True))
    assert row["description"] == "line\nline"
    assert row["event_date"] == NOON.isoformat()
    assert row["image_url"] == ""


@pytest.mark.parametrize("title", ["=cmd()", "+1", "-1", "@x", "\tx"])
def test_scraped_text_never_becomes_a_formula(title: str) -> None:
    assert cells([event(1, title)])[0][1] == "'" + title
