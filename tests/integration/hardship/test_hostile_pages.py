"""Pages that mean harm, and records that no database can hold: each fails alone, on both databases."""

import gzip
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from rig.clock import LaterClock
from rig.site import agenda
from rig.works import the_works
from tidemill.bootstrap.verticals import VERTICALS
from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.record import Found, RawRecord, Strategy
from tidemill.core.verdict import Dropped, Quarantined
from tidemill.engine.clock import RealClock
from tidemill.store.schema import dead_letters, jobs, runs
from tidemill.verticals.events.definition import EVENTS
from tidemill.verticals.events.store.tables import events

STARTS = f"{RealClock().now():%Y}-12-31T20:00:00+01:00"
POISON = "poison \x00 and \ud800 and \U0001f600"
HUGE = 10**40
MEGABYTE = 1_000_000


def json_ld(text):
    words = "Wat er te doen is in de stad, deze week en daarna. " * 10
    return f'<html><script type="application/ld+json">{text}</script><body><p>{words}</p></body></html>'


def event(**fields):
    return {"@context": "https://schema.org", "@type": "Event", "name": "Kermis", "startDate": STARTS, **fields}


HOSTILE = {
    "/deep": "<html>" + "<div>" * 200_000 + agenda(["Diep"]),
    "/attribute": f'<html><div data-x="{"x" * MEGABYTE}">' + agenda(["Breed"]),
    "/nul": agenda(["Kermis \x00 met nul"]).encode() + b"\x00" * 1_000,
    "/nul-in-json": json_ld(json.dumps([event(name="Nul\x00nul")])),
    "/surrogate": json_ld(
        json.dumps([event(name="Half \ud800 half", description="\udfff", url="http://a.example/\ud800",
                          location={"name": "\ud83d"})])
    ),
    "/invalid-unicode": agenda(["Kapot"]).encode().replace(b"Kapot", b"Kap\xff\xfe\xc3ot"),
    "/huge-integers": json_ld(
        json.dumps([
            event(offers={"price": HUGE}, maximumAttendeeCapacity=HUGE, location={"geo": {"latitude": HUGE}}),
            {"@type": "ItemList", "numberOfItems": HUGE, "itemListElement": []},
            event(startDate=HUGE),
        ])
    ),
    "/infinite": json_ld('[{"@type": "Event", "name": "Oneindig", "startDate": 1e999, "price": NaN}]'),
    "/deep-json": json_ld("[" * 100_000 + "]" * 100_000),
    "/not-text": bytes(range(256)) * 4_000,
    "/long-title": agenda(["A" * MEGABYTE]),
}  # fmt: skip


async def drained(works):
    """Everything carried through, in this process, what is tried again later included."""
    clock = works.system.clock
    await works.system.worker.sign_in()
    while (moment := await works.system.make_drain().run("http")) is not None:
        clock.ahead += max(moment - clock.now(), timedelta(0))
    assert await works.system.worker.sign_off() == 0


async def assert_the_good_are_well(works):
    """The six good pages went all the way, and every job has ended."""
    assert await works.count(jobs, status="leased") == await works.count(jobs, status="ready") == 0
    good = [row["status"] for row in await works.rows(jobs) if "/agenda/" in row["url"]]
    assert good == ["done"] * 6
    titles = [row["title"] for row in await works.rows(events) if row["title"].startswith("Concert")]
    assert len(titles) == 18


@pytest.mark.shows("P3")
async def test_hostile_pages_go_through_the_whole_pipeline_and_harm_nobody(later_works, site):
    works = later_works
    for path, page in HOSTILE.items():
        site.page(path, page)
    await works.enqueue(await works.source(site, city="Qwxyzzy"))
    await drained(works)
    await assert_the_good_are_well(works)
    ended = {row["url"].removeprefix(site.origin): row for row in await works.rows(jobs)}
    assert {path: row["status"] for path, row in ended.items() if row["status"] not in {"done", "dead"}} == {}
    assert {row["failure"] for row in ended.values()} <= {None, "layout_changed", "nothing_usable", "not_html"}
    assert [row["open_jobs"] for row in await works.rows(runs)] == [0]


class Hostile:
    """An adapter that brings in what no database takes, by the last word of the page's address."""

    id, version, domain, needs_browser = "events.hostile", "1.0.0", "*", False

    def read(self, page, _context):
        match page.url.rpartition("/")[2]:
            case "crash":
                raise ValueError(POISON)
            case "fail":
                return Fail(Failure.LAYOUT_CHANGED, POISON, stack=POISON)
            case "total":
                return Found(records=[raw("clean")], total=HUGE)
            case "next":
                return Found(records=[raw("clean")], next_url=POISON)
            case kind:
                return Found(records=[raw(kind), raw(kind, title=POISON), raw(kind, number=HUGE)])


def hostile_judge(raw, context):
    match raw.fields.get("kind"):
        case "dropped":
            return Dropped(POISON, POISON)
        case "aside":
            return Quarantined("ODD", POISON)
        case "bug":
            raise ValueError(POISON)
    return EVENTS.judge(raw, context)


HOSTILE_EVENTS = replace(EVENTS, adapters={**EVENTS.adapters, Hostile.id: Hostile()}, judge=hostile_judge)
"""Verdicts as hostile as the adapter's records."""


def raw(kind, **fields):
    known = {"kind": kind, "title": "Kermis", "start": STARTS}
    block = "" if kind == "clean" else POISON
    return RawRecord(fields=known | fields, strategy=Strategy.JSONLD, confidence=1, origin="json-ld/0", block=block)


UNWRITABLE = ("total", "next", "dropped", "aside", "bug", "accepted")
KINDS = ("crash", "fail", *UNWRITABLE)


@pytest.fixture
async def later_works(migrated_url):
    async with the_works(migrated_url, LaterClock()) as view:
        yield view


@pytest.fixture
async def hostile_works(migrated_url, monkeypatch):
    monkeypatch.setitem(VERTICALS, "events", HOSTILE_EVENTS)
    async with the_works(migrated_url, LaterClock()) as view:
        yield view


@pytest.mark.shows("N1", "N4")
async def test_what_a_database_cannot_hold_fails_alone(hostile_works, site):
    works = hostile_works
    hostile = [f"/hostile/{kind}" for kind in KINDS]
    for path in hostile:
        site.page(path, agenda(["Kermis"]))
    good = [path for path in site.paths if path not in hostile]
    await works.enqueue(await works.source(site, "bad", hostile, adapter="events.hostile"))
    await works.enqueue(await works.source(site, "good", good))
    await drained(works)
    await assert_the_good_are_well(works)
    letters = {row["error_type"]: row["error_message"] for row in await works.rows(dead_letters)}
    bad = {row["url"].rpartition("/")[2]: row for row in await works.rows(jobs) if "/hostile/" in row["url"]}
    assert {row["status"] for row in bad.values()} == {"dead"}
    assert {kind: row["failure"] for kind, row in bad.items()} == {
        "crash": "adapter_crashed", "fail": "layout_changed", **dict.fromkeys(UNWRITABLE, "db_error")
    }  # fmt: skip
    assert letters["layout_changed"] == bad["fail"]["last_error"] == "poison \ufffd and ? and \U0001f600"
    assert letters["db_error"]


@pytest.mark.shows("F1")
async def test_a_page_of_200_megabytes_behind_gzip_is_cut_off_and_memory_stays_bounded(nursery, works, site):
    bomb = gzip.compress(b"<p>agenda</p>" * (200 * MEGABYTE // 13))
    site.page("/bomb", bomb, more="Content-Encoding: gzip\r\n")
    await works.enqueue(await works.source(site))
    async with nursery.child("drain measured", settings={"database": works.url}) as worker:
        assert await worker.ended() == 0
    await assert_the_good_are_well(works)
    (bombed,) = [row for row in await works.rows(jobs) if row["url"].endswith("/bomb")]
    assert (bombed["status"], bombed["failure"]) == ("dead", "too_large")
    (grew,) = worker.kinds("grew")
    assert grew["kilobytes"] < 100_000
