"""Agendas over several pages, scraped by the whole system."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from rig.clock import SettableClock
from rig.lab_works import DAY, ill_from, lab_works
from tidemill.lab.faults import TruncatedPages
from tidemill.store.schema import jobs
from tidemill.verticals.events.lab.group import true_events
from tidemill.verticals.events.lab.sites import Make, Site, build_sites
from tidemill.verticals.events.store.tables import events

PAGED = next(site for site in build_sites(7, 12) if site.per_page)
ONE_LIST = msgspec.structs.replace(PAGED, pages=PAGED.pages[:1])


async def test_every_event_of_a_list_is_found_however_many_pages_it_has(
    migrated_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    async with lab_works(migrated_url, clock, tmp_path, [PAGED]) as works:
        (summary,) = await works.scrape()
        truth = {event.title for event in true_events(works.world, PAGED.host, clock.now())}
        assert {row["title"] for row in await works.rows(events)} == truth
        assert summary.complete, summary.doubts
        assert summary.counts.urls_succeeded > len(PAGED.pages)


async def test_a_second_run_asks_for_every_page_again_and_reads_only_what_changed(
    migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    async with lab_works(migrated_sqlite_url, clock, tmp_path, [ONE_LIST]) as works:
        (first,) = await works.scrape()
        works.wait(timedelta(minutes=1))
        (again,) = await works.scrape()
        assert again.complete, again.doubts
        assert again.counts.pages_unchanged == first.counts.urls_succeeded > 1
        assert again.counts.records_seen_again == first.counts.records_accepted


@pytest.mark.shows("X6", "B6")
@pytest.mark.parametrize("make", [Make.JSONLD_ARRAY, Make.CARDS])
async def test_a_list_that_loses_its_further_pages_takes_nothing_off_the_shelf(
    migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path, make: Make
) -> None:
    site: Site = msgspec.structs.replace(ONE_LIST, make=make)
    cut = ill_from(site.host, TruncatedPages(), timedelta(hours=12))
    async with lab_works(migrated_sqlite_url, clock, tmp_path, [site], [cut]) as works:
        await works.scrape()
        known = len(await works.rows(events))
        for _ in range(3):
            works.wait(DAY)
            (summary,) = await works.scrape()
            assert not summary.complete
        assert summary.counts.urls_succeeded == 1
        assert [row["title"] for row in await works.rows(events) if row["gone_at"]] == []
        assert len(await works.rows(events)) >= known


async def test_a_source_may_say_how_far_its_lists_are_followed(
    migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    async with lab_works(migrated_sqlite_url, clock, tmp_path, [ONE_LIST]) as works:
        entry = {"name": ONE_LIST.host.removesuffix(".test"), "vertical": "events", "base_url": ONE_LIST.origin,
                 "adapter": "events.generic", "max_pages": 2}  # fmt: skip
        await works.system.actions.importer.source_entries([entry], "ans")
        (summary,) = await works.scrape()
        assert [row["page_number"] for row in await works.rows(jobs)] == [1, 2]
        assert "truncated: 1 pages were cut short" in summary.doubts
