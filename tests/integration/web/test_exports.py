"""Every dataset in every format over real HTTP, opened by somebody else's reader."""

import csv
import gzip
import io
from datetime import timedelta
from xml.etree import ElementTree as ET

import icalendar
import msgspec
import pyarrow.parquet
import pytest

from rig.clock import NOON
from rig.rows import put
from tidemill.bootstrap.system import System
from tidemill.verticals.events.store.tables import events

from .conftest import Browser
from .world import HOSTILE, an_event, furnish

pytestmark = pytest.mark.shows("A1", "A5")


async def datasets(browser: Browser) -> list[dict[str, list[str]]]:
    found: list[dict[str, list[str]]] = (await browser.get("/api/v1/exports")).json()["items"]
    return found


async def test_every_dataset_can_be_had_in_each_of_its_formats(browser: Browser, system: System) -> None:
    await furnish(system)
    for each in await datasets(browser):
        for form in each["formats"]:
            answer = await browser.get(f"{each['address']}?format={form}")
            assert answer.status == 200, (each["name"], form, answer.text)
            assert f'filename="{each["name"]}.{form}"' in answer.headers["Content-Disposition"]
            if form == "csv":
                names = next(csv.reader(io.StringIO(answer.text)))
                assert names == [*(one for one in each["columns"] if (each["name"], one) not in NESTED), "cursor"]
            if form == "parquet":
                table = pyarrow.parquet.read_table(io.BytesIO(answer.body))
                assert table.column_names == [*each["columns"], "cursor"]


NESTED = {
    ("events", "record"),
    ("agenda", "record"),
    ("listings", "record"),
    ("products", "attributes"),
    ("matches", "state"),
}


async def test_hostile_titles_stay_text_in_every_format(browser: Browser, system: System) -> None:
    titles = (*HOSTILE, "=HYPERLINK(1)", "a;b,c\r\nBEGIN:VEVENT", "tab\tand \\ slash")
    await furnish(system, titles=())
    rows = [
        an_event(100 + place, title, NOON + timedelta(days=1, hours=place), latitude=52.1, longitude=4.3)
        for place, title in enumerate(titles)
    ]
    await put(system.store.database, events, *rows)
    lines = (await browser.get("/api/v1/exports/agenda?format=jsonl")).text.splitlines()
    assert {msgspec.json.decode(line)["title"] for line in lines} == set(titles)
    calendar = icalendar.Calendar.from_ical((await browser.get("/api/v1/exports/agenda?format=ics")).body)
    entries = calendar.walk("VEVENT")
    assert {str(entry["SUMMARY"]) for entry in entries} == {title.replace("\r\n", "\n") for title in titles}
    assert len({str(entry["UID"]) for entry in entries}) == len(titles)
    assert all(int(str(entry["SEQUENCE"])) > 0 and str(entry["STATUS"]) == "CONFIRMED" for entry in entries)
    feed = ET.fromstring((await browser.get("/api/v1/exports/agenda?format=rss")).body)  # noqa: S314 - our own
    assert len(feed.findall("channel/item")) == len(titles)
    places = (await browser.get("/api/v1/exports/agenda?format=geojson")).json()["features"]
    assert {tuple(each["geometry"]["coordinates"]) for each in places} == {(4.3, 52.1)}
    rows_read = csv.DictReader(io.StringIO((await browser.get("/api/v1/exports/events?format=csv")).text, newline=""))
    assert "'=HYPERLINK(1)" in {each["title"] for each in rows_read}


async def test_an_export_is_compressed_and_goes_on_after_a_cursor(browser: Browser, system: System) -> None:
    await furnish(system, titles=("Jazz", "Film", "Fair"))
    whole = (await browser.get("/api/v1/exports/events")).body
    packed = await browser.get("/api/v1/exports/events?gzip=true")
    assert (gzip.decompress(packed.body), packed.headers["Content-Type"]) == (whole, "application/gzip")
    cursor = msgspec.json.decode(whole.splitlines()[0])["cursor"]
    rest = await browser.get(f"/api/v1/exports/events?after={cursor}")
    assert rest.body.splitlines() == whole.splitlines()[1:]


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("events?format=ics", 422), ("events?format=xls", 422), ("events?after=x", 422),
        ("events?source=nobody", 404), ("events?colour=red", 422), ("events?date_from=monday", 422),
        ("events?as_of=yesterday", 422), ("events?as_of=2999-01-01T00:00:00Z", 422),
        ("products?as_of=2026-01-01T00:00:00Z", 422),
    ],
)  # fmt: skip
async def test_a_wrong_question_is_refused_in_words(sqlite_browser: Browser, question: str, status: int) -> None:
    answer = await sqlite_browser.get(f"/api/v1/exports/{question}")
    assert (answer.status, bool(answer.error["detail"])) == (status, True)


async def test_an_export_as_of_a_moment_has_only_what_was_known_then(browser: Browser, system: System) -> None:
    await furnish(system, titles=("Jazz", "Film"))
    rows = [msgspec.json.decode(line) for line in (await browser.get("/api/v1/exports/events")).body.splitlines()]
    known = max(row["first_seen_at"] for row in rows)
    then = (await browser.get(f"/api/v1/exports/events?as_of={known}")).body.splitlines()
    assert {msgspec.json.decode(line)["title"] for line in then} == {row["title"] for row in rows}
    assert (await browser.get("/api/v1/exports/events?as_of=2001-01-01T00:00:00Z")).body == b""


async def test_the_portal_offers_every_dataset_with_a_form(sqlite_browser: Browser) -> None:
    page = (await sqlite_browser.page("/exports")).text
    for each in await datasets(sqlite_browser):
        assert f'action="{each["address"]}"' in page
