"""From a municipality that nobody has searched to sources that a person approved."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rig.clock import SettableClock
from rig.town import agenda_page, happening
from tidemill.lab.standins.talk import StandinFault
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.pipeline.happenings import DiscoverySpilled, PlaceSearched
from tidemill.pipeline.ports import StoreLost

pytestmark = pytest.mark.shows("E5")

EVENTS = [happening(f"Concert {number} in Arnhem", f"2026-04-{number:02}T20:00") for number in range(1, 11)]
AGENDA = agenda_page(EVENTS).replace("<title>Agenda</title>", "<title>Agenda van Arnhem</title>")


@pytest.fixture
async def arnhem(town):
    """A town whose site has an agenda that the search knows of."""
    here = await town()
    here.site.page("/agenda", AGENDA)
    here.search.pages = {"Arnhem": [f"{here.site.origin}/agenda"]}
    return here


async def discover(here, *only, limit=None):
    done, enabled = await here.system.discovery.run(limit, only or ("Arnhem",))
    return done, enabled


async def test_an_agenda_is_found_and_waits_for_a_person_with_its_reasons(arnhem):
    done, enabled = await discover(arnhem)
    (candidate,) = await arnhem.system.discovery.listed()
    assert (done.asked, done.pending, enabled) == (5, 1, 0)
    assert candidate.status == "pending"
    assert candidate.confidence > 0.7
    assert candidate.method == "hybrid"
    assert candidate.samples[0].title == "Concert 1 in Arnhem"
    assert any("10 of 10 records" in reason for reason in candidate.reasons)
    assert [told.place for told in arnhem.told if isinstance(told, PlaceSearched)] == ["Arnhem"]


async def test_an_approved_candidate_is_a_source_that_is_off_until_a_person_switches_it_on(arnhem):
    await discover(arnhem)
    desk = arnhem.system.discovery
    (candidate,) = await desk.listed()
    approved = await desk.approve(candidate.id, "ans")
    source = await arnhem.system.store.sources.find(approved.source_id)
    assert not source.enabled
    assert source.city == "Arnhem"
    assert source.coordinates is not None
    await arnhem.scrape()
    assert await arnhem.events() == {}
    await arnhem.system.actions.sources.enable(source.name, "ans")
    await arnhem.scrape()
    assert len(await arnhem.events()) == 10
    audited = [row["action"] for row in await arnhem.rows("SELECT action FROM audit_log ORDER BY id")]
    assert "candidate.approve" in audited


async def test_a_sure_candidate_is_switched_on_by_itself_where_that_is_wanted(town):
    here = await town(discovery_auto_enable=0.7)
    here.site.page("/agenda", AGENDA)
    here.search.pages = {"Arnhem": [f"{here.site.origin}/agenda"]}
    _, enabled = await discover(here)
    assert enabled == 1
    await here.scrape()
    assert len(await here.events()) == 10


async def test_a_rejected_site_is_never_shown_again(arnhem):
    await discover(arnhem)
    desk = arnhem.system.discovery
    (candidate,) = await desk.listed()
    await desk.reject(candidate.id, "ans", "a shop")
    visits = arnhem.site.visits("/agenda")
    arnhem.clock.advance(timedelta(days=60))
    await discover(arnhem)
    assert arnhem.site.visits("/agenda") == visits
    assert [one.status for one in await desk.listed()] == ["rejected"]
    with pytest.raises(Mistake, match="rejected by ans already"):
        await desk.approve(candidate.id, "bo")


async def test_a_site_that_cannot_be_reached_is_skipped_with_the_reason(arnhem):
    arnhem.search.pages = {"Arnhem": ["http://127.0.0.1:9/agenda", f"{arnhem.site.origin}/nergens"]}
    await discover(arnhem)
    found = await arnhem.system.discovery.listed()
    assert {one.status for one in found} == {"skipped"}
    assert all("cannot be reached" in one.reasons[0] for one in found)


async def test_a_private_address_is_not_looked_at_whatever_the_search_says(town):
    here = await town(allow_networks=[])
    here.site.page("/agenda", AGENDA)
    here.search.pages = {"Arnhem": [f"{here.site.origin}/agenda"]}
    await discover(here)
    assert here.site.asked == []


async def test_what_robots_txt_forbids_is_not_looked_at(arnhem):
    arnhem.site.page("/robots.txt", "User-agent: *\nDisallow: /", "text/plain")
    await discover(arnhem)
    assert arnhem.site.visits("/agenda") == 0
    assert [one.status for one in await arnhem.system.discovery.listed()] == ["skipped"]


async def test_the_largest_places_that_were_not_searched_lately_go_first(town):
    here = await town()
    first, _ = await here.system.discovery.run(2)
    second, _ = await here.system.discovery.run(2)
    assert first.places == ("Amsterdam", "Rotterdam")
    assert second.places == ("'s-Gravenhage", "Utrecht")
    here.clock.advance(timedelta(days=30))
    third, _ = await here.system.discovery.run(1)
    assert third.places == ("Amsterdam",)


async def test_without_the_model_heuristics_decide(arnhem):
    arnhem.model.fault = StandinFault.DOWN
    done, _ = await discover(arnhem)
    (candidate,) = await arnhem.system.discovery.listed()
    assert candidate.method == "heuristics"
    assert candidate.confidence > 0.6
    assert done.degraded == ("llm",)


@pytest.mark.parametrize(
    ("fault", "asked"), [(StandinFault.BROKEN, 5), (StandinFault.OUT_OF_QUOTA, 5), (StandinFault.DOWN, 4)]
)
async def test_without_the_search_places_wait_and_are_searched_when_it_is_back(arnhem, fault, asked):
    """A question whose connection broke may have been paid for, so that it is not asked again."""
    arnhem.search.fault = fault
    done, _ = await discover(arnhem)
    assert (done.places, done.waiting, done.degraded) == ((), ("Arnhem",), ("search",))
    assert (await arnhem.standing())["search"] == "degraded"
    arnhem.search.fault = StandinFault.NONE
    done, _ = await discover(arnhem)
    assert (done.places, done.asked, done.pending) == (("Arnhem",), asked, 1)
    assert (await arnhem.standing())["search"] == "works"


async def test_without_the_search_earlier_results_are_used(arnhem):
    arnhem.site.says("/agenda", b"HTTP/1.1 503 Away\r\nContent-Length: 0\r\n\r\n")
    await discover(arnhem)
    arnhem.site.page("/agenda", AGENDA)
    arnhem.clock.advance(timedelta(days=40))
    arnhem.search.fault = StandinFault.DOWN
    done, _ = await discover(arnhem)
    assert done.pending == 1
    assert done.degraded == ("search",)


async def test_a_search_that_is_limited_gets_its_moment(arnhem):
    arnhem.search.fault = StandinFault.RATE_LIMITED
    done, _ = await discover(arnhem)
    assert done.waiting == ("Arnhem",)
    assert arnhem.search.asked == []


async def test_a_discovery_that_is_killed_goes_on_where_it_was_and_pays_for_nothing_twice(arnhem):
    answer, before = arnhem.search.answer, 3

    async def dies(call, now):
        reply = await answer(call, now)
        if len(arnhem.search.asked) == before:
            killing.cancel()
        return reply

    arnhem.search.answer = dies
    killing = asyncio.create_task(discover(arnhem))
    with pytest.raises(asyncio.CancelledError):
        await killing
    arnhem.search.answer = answer
    await discover(arnhem)
    assert len(arnhem.search.asked) == len(set(arnhem.search.asked)) == 5
    assert [one.status for one in await arnhem.system.discovery.listed()] == ["pending"]


async def test_a_second_discovery_in_the_same_weeks_asks_nothing(arnhem):
    await discover(arnhem)
    await discover(arnhem)
    assert len(arnhem.search.asked) == 5
    assert arnhem.site.visits("/agenda") == 1


async def test_without_the_database_what_was_found_goes_to_a_file_that_can_be_imported(arnhem):
    book = arnhem.system.discovery._discoverer._candidates
    put = book.put

    async def lost(_found):
        words = "the database does not answer"
        raise StoreLost(words)

    book.put = lost
    done, _ = await discover(arnhem)
    book.put = put
    (told,) = [each for each in arnhem.told if isinstance(each, DiscoverySpilled)]
    assert told.file == done.spilled_to
    assert await arnhem.system.discovery.listed() == []
    content = Path(done.spilled_to).read_bytes()  # noqa: ASYNC240 - a test may wait for its own disk
    brought = await arnhem.system.discovery.import_spill(content + b"rubbish\n")
    again = await arnhem.system.discovery.import_spill(content)
    assert (brought.candidates, brought.bad_lines) == (1, (len(content.splitlines()) + 1,))
    assert again.candidates == 1
    assert [one.status for one in await arnhem.system.discovery.listed()] == ["pending"]
    assert json.loads(content.splitlines()[0])["candidate"]["place"] == "Arnhem"


async def test_a_place_that_is_not_there_is_named_with_the_nearest(arnhem):
    with pytest.raises(NotFound, match="Arnhem"):
        await arnhem.system.discovery.run(only=["Arnhemm"])


async def test_the_weekly_tick_discovers(arnhem):
    said = await arnhem.system.ticks.chores["discover"].run()
    assert said.startswith("25 places, 125 questions")


async def test_a_candidate_on_a_known_site_becomes_a_target_of_its_source(arnhem):
    await discover(arnhem)
    desk = arnhem.system.discovery
    (candidate,) = await desk.listed()
    entry = {"name": "known", "vertical": "events", "base_url": arnhem.site.origin, "adapter": "events.generic"}
    await arnhem.system.actions.importer.source_entries([entry | {"targets": ["/elders"]}], "test")
    approved = await desk.approve(candidate.id, "ans")
    known = await arnhem.system.store.sources.find("known")
    assert approved.source_id == known.id
    assert [each.name for each in await arnhem.system.store.sources.every()] == ["known"]
    listed = await arnhem.rows("SELECT url FROM scrape_targets ORDER BY id")
    assert [row["url"] for row in listed] == [f"{arnhem.site.origin}/elders", candidate.url]


SUNDAY = datetime(2026, 3, 8, 3, 0, tzinfo=UTC)


async def test_a_new_key_does_not_pay_for_the_sunday_before_it(arnhem):
    ticks = arnhem.system.ticks
    assert await ticks.tick("services") == "ok"
    assert await ticks.tick("discover") == "missed"
    assert arnhem.search.asked == []
    arnhem.clock.advance(SUNDAY - arnhem.clock.now() + timedelta(minutes=59))
    assert await ticks.tick("discover") == "ok"
    assert len(arnhem.search.asked) == 125
    assert await ticks.tick("discover") == "taken"
    arnhem.clock.advance(timedelta(days=7, minutes=2))
    assert await ticks.tick("discover") == "missed"
    assert len(arnhem.search.asked) == 125


async def test_a_first_start_on_sunday_pays_for_nothing_and_a_person_still_may(town):
    here = await town(clock=SettableClock(SUNDAY + timedelta(minutes=5)))
    assert await here.system.ticks.tick("discover") == "missed"
    assert await here.system.ticks.tick("services") == "ok"
    assert await here.system.ticks.tick("discover") == "missed"
    assert here.search.asked == []
    assert await here.system.ticks.run_now("discover") == "ok"
    assert len(here.search.asked) == 125


async def test_no_more_questions_are_paid_for_in_a_month_than_the_budget_says(town):
    here = await town(discovery_questions_per_month=7)
    said = await here.system.ticks.chores["discover"].run()
    assert len(here.search.asked) == 7
    assert "7 questions" in said
    assert "the 7 questions of the month are used up until 2026-04-01 00:00 UTC" in said
    (search,) = [one for one in await here.system.services.statuses() if one.service.value == "search"]
    assert (search.state.value, "discovery_questions_per_month" in str(search)) == ("degraded", True)
    done, _ = await here.system.discovery.run(3)
    assert (len(here.search.asked), done.asked, done.degraded) == (7, 0, ("search",))
    here.clock.advance(timedelta(days=30))
    done, _ = await here.system.discovery.run(3)
    assert (len(here.search.asked), done.asked) == (14, 7)


async def test_a_question_that_was_never_answered_for_money_costs_no_budget(town):
    here = await town(discovery_questions_per_month=5)
    here.search.fault = StandinFault.OUT_OF_QUOTA
    await discover(here)
    here.search.fault = StandinFault.NONE
    done, _ = await discover(here)
    assert (done.asked, done.budget_words) == (5, ())


async def test_an_agenda_that_does_not_name_its_town_is_no_sure_thing(arnhem):
    elsewhere = agenda_page([happening(f"Concert {day}", f"2026-04-{day:02}T20:00") for day in range(1, 11)])
    arnhem.site.page("/agenda", elsewhere)
    arnhem.model.fault = StandinFault.DOWN
    await discover(arnhem)
    (candidate,) = await arnhem.system.discovery.listed()
    assert "the page does not name the place" in candidate.reasons
    assert 0.2 < candidate.confidence < 0.5


async def test_a_town_named_only_in_structured_data_is_named(arnhem):
    listed = [happening(f"Concert {day}", f"2026-04-{day:02}T20:00", "Musis, Arnhem") for day in range(1, 11)]
    arnhem.site.page("/agenda", agenda_page(listed))
    await discover(arnhem)
    (candidate,) = await arnhem.system.discovery.listed()
    assert "the page names the place" in candidate.reasons
