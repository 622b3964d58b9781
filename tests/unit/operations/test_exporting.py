import csv
import gzip
import io
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import msgspec
import pyarrow.parquet
import pytest

from rig.clock import NOON, SettableClock
from tidemill.core.views.records import key_place
from tidemill.operations.exporting import exporter as exporting
from tidemill.operations.exporting.dataset import ColumnKind, ExportDataset, ExportFormat, ExportRow, columns
from tidemill.operations.exporting.exporter import Exporter
from tidemill.operations.exporting.formats import GeoJsonWriter, cell, csv_lines
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.store.database.database import open_database
from tidemill.store.database.keys import Ids
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.upkeep.audit import AuditLog

pytestmark = pytest.mark.shows("A5")


class ToyFilter(msgspec.Struct, frozen=True):
    least: int = 0
    source: str | None = None


def toy(count: int, name: str = "Jazz") -> ExportDataset:
    """So many rows, one of three without a place."""

    async def load(which: ToyFilter, after: str | None, limit: int) -> Sequence[ExportRow]:
        first = max(key_place(after), which.least) + 1
        return [row(key, name) for key in range(first, min(first + limit, count + 1))]

    kinds: dict[str, ColumnKind] = {
        "id": ColumnKind.WHOLE, "title": ColumnKind.TEXT, "at": ColumnKind.MOMENT, "latitude": ColumnKind.NUMBER,
        "longitude": ColumnKind.NUMBER, "tags": ColumnKind.TEXT, "record": ColumnKind.JSON,
    }  # fmt: skip
    return ExportDataset(name="toys", about="Toys.", columns=columns(**kinds), filters=ToyFilter, load=load)


def row(key: int, name: str) -> ExportRow:
    place = (None, None) if key % 3 == 0 else (52.0, 4.0 + key)
    at = NOON + timedelta(hours=key)
    values = {"id": key, "title": name, "at": at, "latitude": place[0], "longitude": place[1], "tags": ["a", "b"]}
    return ExportRow(str(key), {**values, "record": {"nested": [name]}})


@pytest.fixture
async def make(migrated_sqlite_url: str, clock: SettableClock) -> AsyncIterator[Any]:
    database = open_database(migrated_sqlite_url)
    ids = Ids(database)
    yield lambda *datasets: Exporter(datasets, SourceRepository(database, ids), AuditLog(database, ids), clock)
    await database.close()


async def written(exporter: Exporter, form: str, given: dict[str, str] | None = None, **options: Any) -> bytes:
    started = await exporter.start("toys", ExportFormat(form), given or {}, "test", **options)
    return b"".join([piece async for piece in started.pieces])


@pytest.mark.parametrize("count", [0, 1, 7, 8, 20])
async def test_every_row_is_written_once_a_page_in_memory_at_a_time(
    make: Any, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "PAGE_SIZE", 7)
    started = await make(toy(count)).start("toys", ExportFormat.JSONL, {}, "test")
    pieces = [piece.splitlines() async for piece in started.pieces]
    keys = [msgspec.json.decode(line)["id"] for piece in pieces for line in piece]
    assert keys == list(range(1, count + 1))
    assert all(len(piece) <= 7 for piece in pieces)


@pytest.mark.parametrize("form", ["jsonl", "csv"])
async def test_a_file_that_was_cut_off_goes_on_after_its_last_row(make: Any, form: str) -> None:
    exporter = make(toy(12))
    whole = await written(exporter, form)
    cut = whole.splitlines(keepends=True)[:6]
    cursor = msgspec.json.decode(cut[-1])["cursor"] if form == "jsonl" else cut[-1].decode().strip().split(",")[-1]
    assert b"".join(cut) + await written(exporter, form, after=cursor) == whole
    packed = gzip.compress(b"".join(cut)) + await written(exporter, form, after=cursor, gzip=True)
    assert gzip.decompress(packed) == whole


async def test_parquet_has_typed_columns_and_a_row_group_per_page(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "PAGE_SIZE", 5)
    file = pyarrow.parquet.ParquetFile(io.BytesIO(await written(make(toy(12)), "parquet")))
    rows = file.read().to_pylist()
    assert (file.num_row_groups, [each["id"] for each in rows]) == (3, list(range(1, 13)))
    assert rows[0]["at"] == NOON + timedelta(hours=1)
    assert (rows[0]["tags"], rows[2]["latitude"], rows[11]["cursor"]) == ("a; b", None, "12")
    assert msgspec.json.decode(rows[0]["record"]) == {"nested": ["Jazz"]}


async def test_geojson_holds_the_rows_that_have_a_place(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "PAGE_SIZE", 2)
    found = msgspec.json.decode(await written(make(toy(7)), "geojson"))
    assert found["type"] == "FeatureCollection"
    assert [each["id"] for each in found["features"]] == [1, 2, 4, 5, 7]
    assert found["features"][0]["geometry"] == {"type": "Point", "coordinates": [5.0, 52.0]}
    assert msgspec.json.decode(await written(make(toy(0)), "geojson"))["features"] == []


@pytest.mark.parametrize("title", ["=cmd()", "+1", "-1", "@x", "\tx", "\uff1dx"])
async def test_scraped_text_never_becomes_a_formula(make: Any, title: str) -> None:
    rows = list(csv.DictReader(io.StringIO((await written(make(toy(1, title)), "csv")).decode(), newline="")))
    assert rows[0]["title"] == "'" + title


async def test_text_with_line_ends_and_quotes_comes_back_whole(make: Any) -> None:
    text = 'line\n"line", end'
    rows = list(csv.DictReader(io.StringIO((await written(make(toy(1, text)), "csv")).decode(), newline="")))
    assert (rows[0]["title"], "record" in rows[0]) == (text, False)


@pytest.mark.parametrize(
    ("form", "given", "options", "words"),
    [
        ("ics", {}, {}, "cannot be had as ics; take one of jsonl"),
        ("csv", {"leest": "1"}, {}, "did you mean 'least'"),
        ("csv", {"least": "many"}, {}, "a filter of toys cannot be used"),
        ("csv", {}, {"after": "x"}, "not a place in this list"),
        ("csv", {"source": "nobody"}, {}, "nobody"),
    ],
)
async def test_a_mistake_is_told_before_the_first_byte(
    make: Any, form: str, given: dict[str, str], options: dict[str, str], words: str
) -> None:
    with pytest.raises(Mistake, match=words):
        await written(make(toy(1)), form, given, **options)


async def test_filters_narrow_and_unknown_datasets_are_told(make: Any) -> None:
    exporter = make(toy(9))
    assert len((await written(exporter, "jsonl", {"least": "7"})).splitlines()) == 2
    with pytest.raises(NotFound, match="did you mean 'toys'"):
        await exporter.start("toy", ExportFormat.CSV, {}, "test")


@pytest.mark.parametrize("latitude", [float("nan"), float("inf"), -91.0, None])
def test_a_point_that_is_nowhere_is_not_on_the_map(latitude: float | None) -> None:
    values = {"id": 1, "title": "Jazz", "latitude": latitude, "longitude": 4.0}
    writer = GeoJsonWriter()
    written = writer.begin() + writer.page([ExportRow(values=values, cursor="1")]) + writer.end()
    assert msgspec.json.decode(written) == {"type": "FeatureCollection", "features": []}


@pytest.mark.parametrize(
    "words", ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1", '=cmd|" /C calc"!A0']
)
def test_no_cell_begins_as_a_formula_does(words: str) -> None:
    (line,) = csv.reader(io.StringIO(csv_lines([[cell(words)]]).decode(), newline=""))
    assert line == ["'" + words]
