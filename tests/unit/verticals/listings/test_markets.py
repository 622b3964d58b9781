"""Markets: how often, what cannot be meant, what falls short."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from tidemill.core.freshness import ConfidenceDecay
from tidemill.core.quality.verification import Presence, presence_from_answer
from tidemill.verticals.listings.market import SEEDED, Market, filled, market_problems, slug, template_problem
from tidemill.verticals.listings.market_proof import shortfalls_of

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
LONG_AGO = NOW - timedelta(days=90)
SALEM = Market(id="salem", display_name="Salem", city="Salem", state="MA", tier="standard", created_at=LONG_AGO)


def salem(**changes):
    return msgspec.structs.replace(SALEM, **changes)


def found(market, covered=1, jobs=100, size=None):
    sizes = {} if size is None else {"salem": size}
    return {one.rule for one in shortfalls_of([market], {"salem": covered}, {"salem": jobs}, sizes, NOW)}


@pytest.mark.shows("L1")
def test_no_seeded_market_contradicts_itself():
    assert [market_problems(market, ConfidenceDecay()) for market in SEEDED] == [[]] * 19


@pytest.mark.shows("L1")
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": "Sa lem"}, "small letters"),
        ({"state": "ma"}, "two letters of a state"),
        ({"tier": "warm"}, "there are hot, standard, cool"),
        ({"frequency_hours": 0}, "write 1 to 336"),
        ({"max_listings": 0}, "write 1 to"),
        ({"frequency_hours": 24}, "one missed scrape would hide it"),
        ({"city": ""}, "1 to 100 characters"),
        ({"display_name": "Sa\0lem"}, "that can be printed"),
    ],
)
def test_what_cannot_be_meant_is_said_in_words(changes, words):
    (trouble,) = market_problems(salem(**changes), ConfidenceDecay())
    assert words in trouble


@pytest.mark.shows("L1")
def test_a_url_is_filled_in_for_each_market():
    nyc = next(market for market in SEEDED if market.id == "nyc")
    assert filled("https://x.test/{city_slug}-{state_slug}/?m={market}&n={max_listings}&q={other}", nyc) == (
        "https://x.test/new-york-ny/?m=nyc&n=100&q={other}"
    )
    assert slug("Arlington, VA") == "arlington-va"


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("https://x.test/{market}/", ""),
        ("https://x.test/{state_slug}/{city_slug}?n={max_listings}", ""),
        ("https://x.test/{citty}", "no market has a 'citty'"),
        ("https://x.test/homes", "the same address for every market"),
        ("homes in {city}", "no address that can be asked"),
        (7, "write the address of a search page"),
    ],
)
def test_a_template_that_makes_no_address_of_each_market_is_told(template, words):
    trouble = template_problem(template)
    assert words in trouble
    assert bool(trouble) is bool(words)


@pytest.mark.shows("B2")
def test_a_market_is_overdue_after_two_of_its_intervals():
    assert found(salem(last_scrape_at=NOW - 24 * HOUR)) == set()
    assert found(salem(last_scrape_at=NOW - 25 * HOUR)) == {"overdue"}
    assert found(salem(last_scrape_at=None)) == {"overdue"}


@pytest.mark.shows("B2")
def test_a_market_that_gets_under_half_of_its_jobs_is_doubted():
    well = salem(last_scrape_at=NOW)
    assert found(well, covered=2, jobs=4) == set()
    assert found(well, covered=2, jobs=3) == {"jobs"}
    assert found(salem(last_scrape_at=NOW, created_at=NOW - HOUR), jobs=0) == set()


def test_a_cap_below_the_markets_size_is_reported():
    assert found(salem(last_scrape_at=NOW), size=101) == {"cap"}
    assert found(salem(last_scrape_at=NOW, max_listings=500), size=101) == set()


def test_a_rhythm_that_hides_homes_between_two_scrapes_is_reported_however_it_got_there():
    assert found(salem(last_scrape_at=NOW, frequency_hours=24)) == {"rhythm"}


def test_what_is_off_or_covered_by_nobody_owes_nothing():
    assert found(salem(enabled=False)) == set()
    assert found(salem(), covered=0) == set()


@pytest.mark.shows("L3")
@pytest.mark.parametrize(
    ("status", "clean", "notice", "fate"),
    [
        (200, True, "", Presence.THERE),
        (200, True, "no longer available", Presence.GONE),
        (404, False, "", Presence.GONE),
        (410, False, "", Presence.GONE),
        (200, False, "", Presence.UNKNOWN),
        (403, False, "", Presence.UNKNOWN),
        (429, False, "", Presence.UNKNOWN),
        (503, False, "", Presence.UNKNOWN),
        (0, False, "", Presence.UNKNOWN),
    ],
)
def test_only_a_clean_answer_is_there_and_only_evidence_is_gone(status, clean, notice, fate):
    assert presence_from_answer(status, clean=clean, notice=notice)[0] is fate
