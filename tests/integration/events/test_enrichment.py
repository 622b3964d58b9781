"""Records are saved by rules, made better by whoever answers, and repaired when they do so later."""

import re
from datetime import timedelta

import pytest

from rig.clock import NOON, SettableClock
from rig.town import a_town, agenda_page, happening
from tidemill.lab.standins.talk import StandinFault

SILENT = "Zomaar iets"
"""A title that speaks for no category."""


def thoughtful(entry):
    """A model that knows music and the old month names."""
    if entry["kind"] == "category":
        return {"value": "music", "sureness": 0.9}
    found = re.search(r"(\d+)e van grasmaand", entry["text"])
    return {"value": f"2026-04-{int(found[1]):02}" if found else "", "sureness": 0.9}


@pytest.mark.shows("N2", "N3")
async def test_a_venue_is_found_and_a_category_asked_for_after_the_event_is_safe(town):
    here = await town()
    here.site.page("/agenda", agenda_page([happening(SILENT, place="Luxor Live")]))
    await here.add_source()
    await here.scrape()
    before = (await here.events())[SILENT]
    assert (before["location_precision"], before["category"], before["normalization_method"]) == (
        "source", "community", "rules",
    )  # fmt: skip

    await here.enrich()

    after = (await here.events())[SILENT]
    assert after["location_precision"] == "venue"
    assert after["latitude"] == pytest.approx(51.98, abs=0.05)
    assert (after["category"], after["normalization_method"]) == ("social", "hybrid")
    assert await here.rows("SELECT * FROM enrichment_wants") == []
    assert await here.degraded() == [[]]


@pytest.mark.shows("N2")
async def test_no_question_is_ever_paid_for_twice(town):
    here = await town()
    here.site.page("/agenda", agenda_page([happening(SILENT, place="Luxor Live")]))
    await here.add_source()
    await here.scrape()
    await here.enrich()
    other = [happening(SILENT, place="Luxor Live"), happening(SILENT, "2026-05-05T20:00", place="Luxor Live")]
    here.site.page("/agenda", agenda_page(other))
    await here.next_day()
    await here.scrape()
    await here.enrich()
    rows = await here.rows("SELECT latitude, category FROM events")
    assert len(rows) == 2
    assert rows[0] == rows[1]
    assert len(here.geocoder.asked) == 1
    assert here.model.calls == 1


async def test_what_was_put_in_is_neither_lost_nor_news_when_the_page_is_read_again(town):
    here = await town()
    here.site.page("/agenda", agenda_page([happening(SILENT, place="Luxor Live")]))
    await here.add_source()
    await here.scrape()
    await here.enrich()
    enriched = (await here.events())[SILENT]
    here.site.page("/agenda", agenda_page([happening(SILENT, place="Luxor Live"), happening("Jazzconcert")]))
    await here.next_day()
    await here.scrape()
    assert (await here.events())[SILENT] == enriched
    kinds = [row["kind"] for row in await here.rows("SELECT kind FROM record_history ORDER BY id")]
    assert set(kinds) == {"enriched"}


@pytest.mark.shows("E2")
async def test_a_date_that_no_rule_can_read_is_read_by_the_model_and_the_event_is_saved(town):
    here = await town(think=thoughtful)
    here.site.page("/agenda", agenda_page([happening("Jazzconcert"), happening("Kermis", "de 4e van grasmaand")]))
    await here.add_source()
    await here.scrape()
    assert set(await here.events()) == {"Jazzconcert"}

    await here.enrich()
    await here.work_off()

    saved = (await here.events())["Kermis"]
    assert saved["structured_date"]["start"] == "2026-04-04"
    assert saved["normalization_method"] == "ai"
    assert saved["confidence"] < (await here.events())["Jazzconcert"]["confidence"]


async def test_a_saved_event_stays_when_its_page_does_not_change(town):
    here = await town(think=thoughtful)
    here.site.page("/agenda", agenda_page([happening("Jazzconcert"), happening("Kermis", "de 4e van grasmaand")]))
    await here.add_source()
    for _ in range(4):
        await here.scrape()
        await here.enrich()
        await here.work_off()
        await here.next_day()
    assert await here.rows("SELECT title FROM events WHERE gone_at IS NOT NULL OR missed_runs > 0") == []
    assert sum(entry["kind"] == "date" for entry in here.model.entries) == 1


async def test_a_page_of_which_not_one_date_can_be_read_is_saved_too(town):
    here = await town(think=thoughtful)
    here.site.page("/agenda", agenda_page([happening("Kermis", "de 4e van grasmaand")]))
    await here.add_source()
    await here.scrape()
    await here.enrich()
    await here.work_off()
    assert set(await here.events()) == {"Kermis"}


@pytest.mark.shows("N3", "B15")
@pytest.mark.parametrize("fault", [StandinFault.DOWN, StandinFault.HANGS, StandinFault.BROKEN, StandinFault.GARBAGE,
StandinFault.RATE_LIMITED,
                                   StandinFault.OUT_OF_QUOTA, StandinFault.BAD_KEY])  # fmt: skip
async def test_without_the_geocoder_the_run_completes_is_marked_and_is_repaired_later(town, fault):
    here = await town(service_timeout_seconds=0.2 if fault is StandinFault.HANGS else 5)
    here.site.page("/agenda", agenda_page([happening("Jazzconcert", place="Luxor Live")]))
    await here.add_source()
    here.geocoder.fault = fault
    await here.scrape()
    await here.enrich()
    event = (await here.events())["Jazzconcert"]
    assert (event["location_precision"], event["latitude"]) == ("source", 51.98)
    assert await here.degraded() == [["geocoder"]]
    assert (await here.standing())["geocoder"] == "degraded"

    here.geocoder.fault = StandinFault.NONE
    await here.next_day()
    await here.enrich()

    assert (await here.events())["Jazzconcert"]["location_precision"] == "venue"
    assert (await here.standing())["geocoder"] == "works"


@pytest.mark.shows("N2", "B15")
@pytest.mark.parametrize(
    "fault", [StandinFault.DOWN, StandinFault.HANGS, StandinFault.GARBAGE, StandinFault.RATE_LIMITED]
)
async def test_without_the_model_the_run_completes_is_marked_and_is_repaired_later(town, fault):
    here = await town(think=thoughtful, service_timeout_seconds=0.2 if fault is StandinFault.HANGS else 5)
    events = [happening("Jazzconcert"), happening(SILENT), happening("Kermis", "de 4e van grasmaand")]
    here.site.page("/agenda", agenda_page(events))
    await here.add_source()
    here.model.fault = fault
    await here.scrape()
    await here.enrich()
    found = await here.events()
    assert set(found) == {"Jazzconcert", SILENT}
    assert found[SILENT]["normalization_method"] == "rules"
    assert await here.degraded() == [["llm"]]

    here.model.fault = StandinFault.NONE
    await here.next_day()
    await here.enrich()
    await here.work_off()

    found = await here.events()
    assert set(found) == {"Jazzconcert", SILENT, "Kermis"}
    assert found[SILENT]["category"] == "music"
    assert (await here.standing())["llm"] == "works"


async def test_a_later_run_knows_at_once_that_the_service_is_down(town):
    here = await town()
    here.site.page("/agenda", agenda_page([happening("Jazzconcert", place="Luxor Live")]))
    await here.add_source()
    here.geocoder.fault = StandinFault.DOWN
    await here.scrape()
    await here.enrich()
    here.site.page("/agenda", agenda_page([happening("Popconcert", place="Willemeen")]))
    await here.next_day()
    await here.scrape()
    assert await here.degraded() == [["geocoder"], ["geocoder"]]


@pytest.mark.shows("B15")
async def test_a_missing_key_stops_nobody_and_leaves_the_run_marked(town):
    here = await town(llm_key=None, enrich_with=["llm"])
    here.site.page("/agenda", agenda_page([happening(SILENT)]))
    await here.add_source()
    await here.scrape()
    await here.enrich()
    assert set(await here.events()) == {SILENT}
    assert await here.degraded() == [["llm"]]
    assert (await here.standing())["llm"] == "off"


@pytest.mark.shows("N2")
async def test_a_model_that_babbles_is_not_believed_and_given_up_after_three_tries(town):
    here = await town()
    here.site.page("/agenda", agenda_page([happening(SILENT)]))
    await here.add_source()
    here.model.babbles = True
    await here.scrape()
    for _ in range(4):
        await here.enrich()
        await here.next_day()
    assert (await here.events())[SILENT]["category"] == "community"
    assert here.model.calls == 3
    assert await here.rows("SELECT * FROM enrichment_wants") == []


@pytest.mark.shows("N2")
async def test_no_more_is_spent_than_the_day_allows(town):
    here = await town(llm_dollars_per_day=0.001)
    titles = [f"Zomaar {number}" for number in range(40)]
    here.site.page("/agenda", agenda_page([happening(title) for title in titles]))
    await here.add_source()
    await here.scrape()
    said = await here.enrich()
    assert "budget" in said
    spent = (await here.rows("SELECT amount FROM service_spend WHERE service = 'llm'"))[0]["amount"]
    assert 0 < spent <= 1_000
    assert await here.degraded() == [["llm"]]
    await here.next_day()
    for _ in range(2):
        await here.enrich()
        await here.next_day()
    assert await here.rows("SELECT * FROM enrichment_wants") == []


async def test_one_pass_spends_its_share_and_the_next_goes_on(town):
    here = await town(llm_dollars_per_pass=0.001)
    here.site.page("/agenda", agenda_page([happening(f"Zomaar {number}") for number in range(40)]))
    await here.add_source()
    await here.scrape()
    await here.enrich()
    assert here.model.calls == 1
    await here.enrich()
    assert here.model.calls == 2
    assert await here.rows("SELECT * FROM enrichment_wants") == []


@pytest.mark.shows("N3")
async def test_the_geocoder_is_asked_once_a_second_at_most(town):
    here = await town()
    venues = [happening(f"Concert {number}", place=f"Zaal {number}") for number in range(5)]
    here.site.page("/agenda", agenda_page(venues))
    await here.add_source()
    await here.scrape()
    began = here.clock.now()
    await here.enrich()
    assert len(here.geocoder.asked) == 5
    assert (here.clock.now() - began).total_seconds() >= 4


async def test_nothing_is_asked_where_nobody_is_set_up(town):
    here = await town(llm_key=None, geocoder_url=None)
    here.site.page("/agenda", agenda_page([happening(SILENT, place="Luxor Live")]))
    await here.add_source()
    await here.scrape()
    assert "enrich" not in here.system.ticks.chores
    assert await here.rows("SELECT * FROM enrichment_wants") == []
    assert await here.degraded() == [[]]


class RunningClock(SettableClock):
    """A clock that moves on whenever somebody looks at it, as real ones do."""

    def now(self):
        return self.advance(timedelta(microseconds=1))


async def test_a_service_rests_only_when_it_asked_for_it(town):
    here = await town(clock=RunningClock(NOON))
    here.site.page("/agenda", agenda_page([happening(SILENT, place="Luxor Live")]))
    await here.add_source()
    await here.scrape()
    await here.enrich()
    assert (await here.events())[SILENT]["location_precision"] == "venue"


async def test_a_service_that_asks_for_patience_is_left_in_peace_for_so_long(town):
    here = await town()
    here.site.page("/agenda", agenda_page([happening("Jazzconcert", place="Luxor Live")]))
    await here.add_source()
    here.geocoder.fault = StandinFault.RATE_LIMITED
    await here.scrape()
    await here.enrich()
    here.geocoder.fault = StandinFault.NONE
    here.clock.advance(-timedelta(seconds=30))
    await here.enrich()
    assert here.geocoder.asked == []
    await here.enrich()
    assert len(here.geocoder.asked) == 1


async def test_a_service_that_is_set_up_later_is_asked_about_what_is_there_already(migrated_sqlite_url, tmp_path):
    page = agenda_page([happening(SILENT, place="Luxor Live")])
    async with a_town(migrated_sqlite_url, tmp_path, llm_key=None, geocoder_url=None) as before:
        before.site.page("/agenda", page)
        await before.add_source()
        await before.scrape()
    async with a_town(migrated_sqlite_url, tmp_path) as after:
        await after.enrich()
        event = (await after.events())[SILENT]
        await after.enrich()
        assert len(after.geocoder.asked) == 1
    assert (event["location_precision"], event["category"]) == ("venue", "social")
