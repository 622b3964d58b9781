"""Whatever reads scraped text beside the jobs' pages is done by readers too: what is too hard there hurts nobody."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rig.reader_child import OBEDIENT_EVENTS
from rig.site import agenda
from tidemill.bootstrap.page_readers.functions import FUNCTIONS
from tidemill.bootstrap.verticals import VERTICALS as REAL
from tidemill.core.discovery.places import Place
from tidemill.core.discovery.search import ShortlistedSite
from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.quality.proposals import DriftedTarget
from tidemill.core.record import RawRecord, Strategy
from tidemill.core.source import Coordinates, FetcherKind, Source
from tidemill.core.vertical import Context
from tidemill.engine.readers.limits import ReaderLimits
from tidemill.engine.readers.pool import ReaderPool
from tidemill.pipeline.inspection import CandidatePage
from tidemill.pipeline.page_reading import PageTask, ReadPage
from tidemill.pipeline.reader_functions.chosen_selectors import FieldSelector, PointedAt, SelectorToTry
from tidemill.pipeline.reader_functions.dry_readings import DRY_READ, DryReading, PageToRead, RecordsToJudge
from tidemill.pipeline.reader_functions.feeds import FeedBody
from tidemill.pipeline.reader_functions.function import InlineReaders
from tidemill.pipeline.reader_functions.live_pages import TOLD, PolledBody, ToldPage
from tidemill.pipeline.reader_functions.notices import PageToVerify
from tidemill.pipeline.reader_functions.stored_pages import PageAndRecords, TwoPages
from tidemill.pipeline.reader_functions.tried_addresses import PageToTry

pytestmark = pytest.mark.shows("P3")

NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)
VERTICALS = {**REAL, "events": replace(OBEDIENT_EVENTS)}
LIMITS = ReaderLimits(cpu=timedelta(seconds=0.5), wall=timedelta(seconds=5))
SOURCE = Source(id=1, name="agenda", vertical="events", base_url="http://a.example", adapter_id="events.obedient",
                city="Ede", adapter_settings={"selectors": {"item": ".event", "title": "h2"}})  # fmt: skip
RAW = RawRecord(fields={"title": "Kermis", "starts": "2026-12-31T20:00:00+01:00"}, strategy=Strategy.JSONLD,
                confidence=1, origin="json-ld/0")  # fmt: skip
TOWN = Place("Ede", "Gelderland", 120_000, Coordinates(52.0, 5.7))


def page(word: str = "good", body: str = agenda(["Kermis", "Concert"])) -> Page:
    url = f"http://a.example/{word}"
    return Page(id=1, url=url, final_url=url, status_code=200, body=body.encode(), charset="utf-8",
                content_type="text/html", digest=1, fetched_at=NOW)  # fmt: skip


def questions() -> dict[str, Any]:
    """Something that each function can be asked."""
    context = Context(SOURCE, page().url, NOW)
    drifted = DriftedTarget(source=SOURCE, target_id=1, adapter_id="events.generic", page=page(), good_page_id=1,
                            good_at=NOW, known=[RAW])  # fmt: skip
    wanted = FieldSelector(field="title", way="h2", item=".event")
    return {
        "feed.listed": FeedBody(b"<rss><channel><item><link>http://a.example/1</link></item></channel></rss>"),
        "page.marked": PageAndRecords(page=page(), records=[RAW]),
        "page.rebuilt": PageAndRecords(page=page(), records=[RAW], link="/pages/1/pick?element="),
        "page.changed": TwoPages(page(), page(body=agenda(["Kermis", "Markt"]))),
        "selectors.choice": PointedAt(page=page(), element=3, item=None, known=""),
        "selectors.trial": SelectorToTry(page=page(), source=SOURCE, wanted=wanted),
        "address.tried": PageToTry(address="http://a.example/", page=page(), fetcher=FetcherKind.HTTP, now=NOW),
        "page.dry_read": PageToRead("events.generic", SOURCE, page()),
        "records.judged": RecordsToJudge("events", [RAW], context),
        "live.told": PolledBody(vertical="matches", adapter_id="matches.feed", page=page(), context=context,
                                is_list=False),
        "record.notice": PageToVerify("listings", page(body="<p>This listing has been removed.</p>")),
        "repair.examined": drifted,
        "site.inspected": CandidatePage(vertical="events", place=TOWN, page=page(),
                                   site=ShortlistedSite("http://a.example/", "http://a.example/", "Agenda", 0.5)),
    }  # fmt: skip


@pytest.fixture
async def pool(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ReaderPool]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    made = ReaderPool("rig.reader_child", VERTICALS, LIMITS, 1, lambda _: None)
    yield made
    await made.close()


async def test_readers_answer_what_the_functions_answer_inline(pool: ReaderPool) -> None:
    asked, inline = questions(), InlineReaders(VERTICALS)
    assert asked.keys() == FUNCTIONS.keys()
    for name, question in asked.items():
        answer = await inline.call(FUNCTIONS[name], question)
        assert not isinstance(answer, Fail), name
        assert plain(await pool.call(FUNCTIONS[name], question)) == plain(answer), name


def plain(answer: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(answer))


async def dry_read(pool: ReaderPool, word: str) -> DryReading | Fail:
    return await pool.call(DRY_READ, PageToRead("events.obedient", SOURCE, page(word)))


async def told(pool: ReaderPool, polled: PolledBody) -> ToldPage | Fail:
    return await pool.call(TOLD, polled)


async def test_what_is_too_hard_for_a_function_ends_its_reader_alone(pool: ReaderPool) -> None:
    hard = asyncio.gather(*(dry_read(pool, word) for word in ("spin", "crash", "memory")))
    read: list[Any] = []
    for _ in range(20):
        pool.submit(PageTask("events", "events.obedient", SOURCE, {}, page()), read.append)
    spun, crashed, bloated = await hard
    assert [each.failure for each in (spun, crashed, bloated) if isinstance(each, Fail)] == [Failure.PAGE_TOO_HARD] * 3
    assert len(read) == 20
    assert all(isinstance(each, ReadPage) for each in read)


async def test_a_hard_page_of_the_live_lane_is_killed_and_the_next_one_told(pool: ReaderPool) -> None:
    context = Context(SOURCE, page().url, NOW)
    hard, good = (
        PolledBody(vertical="events", adapter_id="events.obedient", page=page(word), context=context, is_list=False)
        for word in ("spin", "good")
    )
    first, second = await asyncio.gather(told(pool, hard), told(pool, good))
    assert isinstance(first, Fail)
    assert first.failure is Failure.PAGE_TOO_HARD
    assert not isinstance(second, Fail)
    assert msgspec.json.decode(second.thing)["title"] == "Concert"
