"""A page that is read worse than before: a person is told, the run is doubted, and what was known stays."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from rig.town import Town, a_town, agenda_page
from tidemill.core.quality.drift import DriftRule
from tidemill.core.target import POORER_READING

pytestmark = pytest.mark.shows("P3b")

FIRST = date(2026, 4, 4)
NAMES = [
    "Grieg by the river", "Open day at the mill", "Pottery for beginners", "Night of the short film",
    "Jazz on the quay",
    "Book market", "Repair café", "Chess against the mayor", "Choirs in the station", "Walk along the dike",
    "Theatre in the park", "Bread from your own oven",
]  # fmt: skip


def _marked_up(site: str, *, venue: bool = True) -> str:
    said = []
    for number, name in enumerate(NAMES):
        event: dict[str, Any] = {
            "name": name, "startDate": f"{FIRST + timedelta(days=number)}T20:00", "url": f"{site}/event/{number}",
            "description": f"All about {name.lower()}.",
        }  # fmt: skip
        if venue:
            event["location"] = {"@type": "Place", "name": f"Hall {number}", "address": "Kade 1"}
        said.append(event)
    return agenda_page(said)


def _bare(site: str) -> str:
    """The same events after a redesign: no markup for machines, and no venues."""
    cards = [
        f'<article class="card"><h3><a href="{site}/event/{number}">{name}</a></h3>'
        f'<p class="when">{FIRST + timedelta(days=number):%d %B %Y} 20:00</p></article>'
        for number, name in enumerate(NAMES)
    ]
    return f'<html lang="en"><body><h1>Agenda</h1><main>{"".join(cards)}</main></body></html>'


async def _incidents(town: Town) -> list[Any]:
    return [
        (row["detail"], row["closed_at"] is not None)
        for row in await town.rows("SELECT rule, detail, closed_at FROM incidents ORDER BY id")
        if row["rule"] == DriftRule.POORER_READING
    ]


async def _target(town: Town) -> str:
    (row,) = await town.rows("SELECT last_status FROM scrape_targets")
    return str(row["last_status"])


async def _last_run(town: Town) -> Any:
    return (await town.rows("SELECT complete, doubts, records_updated FROM scrape_runs ORDER BY id DESC"))[0]


async def _scraped_well(town: Town) -> None:
    town.site.page("/agenda", _marked_up(town.site.origin))
    await town.add_source(language="en")
    await town.scrape()
    assert (await _target(town), len(await town.events())) == ("SUCCESS", len(NAMES))


async def test_a_weaker_strategy_overwrites_nothing_and_is_told(migrated_url: str, tmp_path: Path) -> None:
    async with a_town(migrated_url, tmp_path) as town:
        await _scraped_well(town)
        before = await town.events()
        town.site.page("/agenda", _bare(town.site.origin))
        await town.next_day()
        await town.scrape()
        assert await town.events() == before
        run = await _last_run(town)
        assert not run["complete"]
        assert "reading: 1 page was read worse than the last good one" in str(run["doubts"])
        ((detail, is_over),) = await _incidents(town)
        assert not is_over
        assert "read by heuristics, before by json-ld" in detail
        assert await _target(town) == POORER_READING

        town.site.page("/agenda", _marked_up(town.site.origin))
        await town.next_day()
        await town.scrape()
        assert [is_over for _, is_over in await _incidents(town)] == [True]
        assert (await _target(town), await town.events()) == ("SUCCESS", before)


async def test_a_field_that_vanishes_is_kept_and_told(migrated_sqlite_url: str, tmp_path: Path) -> None:
    async with a_town(migrated_sqlite_url, tmp_path) as town:
        await _scraped_well(town)
        town.site.page("/agenda", _marked_up(town.site.origin, venue=False).replace("All about", "More about"))
        await town.next_day()
        await town.scrape()
        ((detail, _),) = await _incidents(town)
        assert "place (100% before, 0% now)" in detail
        known = (await town.events())["Book market"]
        assert known["structured_location"]["name"] == "Hall 5"
        assert known["venue_name"] == "Hall 5"
        assert known["description"] == "More about book market."


async def test_a_person_who_closes_the_incident_takes_the_page_as_it_is(
    migrated_sqlite_url: str, tmp_path: Path
) -> None:
    async with a_town(migrated_sqlite_url, tmp_path) as town:
        await _scraped_well(town)
        town.site.page("/agenda", _bare(town.site.origin))
        await town.next_day()
        await town.scrape()
        (row,) = await town.rows("SELECT id FROM incidents WHERE rule = 'poorer_reading'")
        await town.system.actions.incidents.close(row["id"], "ans", "this is how the site is now")
        await town.next_day()
        await town.scrape()
        assert [is_over for _, is_over in await _incidents(town)] == [True]
        assert await _target(town) == "SUCCESS"
        assert (await town.events())["Book market"]["structured_location"]["name"] == ""


async def test_what_is_read_worse_is_looked_at_for_a_proposal(migrated_sqlite_url: str, tmp_path: Path) -> None:
    async with a_town(migrated_sqlite_url, tmp_path) as town:
        await _scraped_well(town)
        town.site.page("/agenda", _bare(town.site.origin))
        await town.next_day()
        await town.scrape()
        await town.system.ticks.chores["propose_repairs"].run()
        (proposal,) = await town.system.actions.proposals.every()
        assert proposal.after is not None
        await town.system.actions.proposals.accept(proposal.id, "ans")
        await town.scrape()
        assert await _target(town) == "SUCCESS"
        assert [is_over for _, is_over in await _incidents(town)] == [True]
