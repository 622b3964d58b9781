"""What a sources file may not say is refused with the nearest that it may: settings, selectors, names, languages."""

from datetime import datetime

import pytest

from tidemill.bootstrap.verticals import VERTICALS
from tidemill.core.schedules import BadSchedule, Cron, parse_schedule
from tidemill.operations.known_settings import known_adapters, known_settings
from tidemill.operations.plans import Problem, ProblemList
from tidemill.operations.source_file import read_sources
from tidemill.operations.target_file import read_targets
from tidemill.verticals.listings.actions import market_template

pytestmark = pytest.mark.shows("S1")


async def no_targets(_now: datetime) -> int:
    """Lay nothing out."""
    return 0


KNOWN = known_adapters(VERTICALS, [market_template(no_targets)])
SMALL = "- {name: a, vertical: %s, base_url: https://a.example, adapter: %s, %s}\n"


def problems(fields: str, vertical: str = "events", adapter: str = "events.generic") -> list[Problem]:
    found = ProblemList()
    read_sources((SMALL % (vertical, adapter, fields)).encode(), KNOWN, found)
    return found.found


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ("settings: {selektors: {item: .a}}", "settings.selektors", "did you mean 'selectors'?"),
        ("settings: {selectors: {item: 'div[['}}", "settings.selectors", "'div[[' is not a CSS selector"),
        ("settings: {selectors: {titel: h1}}", "settings.selectors", "did you mean 'title'?"),
        ("settings: {selectors: {title: [h1, 'a[']}}", "settings.selectors", "is not a CSS selector"),
        ("settings: {selectors: {title: {a: 1}}}", "settings.selectors", "write a CSS selector, or a list"),
        ("settings: {selectors: h1}", "settings.selectors", "write fields and their selectors"),
        ("settings: {pace_per: hots}", "settings.pace_per", "did you mean 'host'?"),
        ("settings: {paid_fallback: maybe}", "settings.paid_fallback", "true or false"),
        ("settings: {scrapingbee: {render: true}}", "settings.scrapingbee", "did you mean 'render_js'?"),
        ("settings: {apify: {input: {}}}", "settings.apify", "actor"),
        ("settings: {wait_for: 'div[['}", "settings.wait_for", "is not a CSS selector"),
        ("language: klingon", "language", "write a code of two letters"),
        ("language: dutch", "language", "did you mean 'nl'?"),
    ],
)
def test_what_nothing_reads_is_refused_with_a_suggestion(fields: str, field: str, words: str) -> None:
    [found] = problems(fields)
    assert found.field == field
    assert words in found.message


@pytest.mark.parametrize(
    ("fields", "words"),
    [("currency: EURO", "no currency"), ("page: liste", "did you mean 'list'?"), ("retailer: [a]", "a line of text")],
)
def test_settings_of_shops_are_checked(fields: str, words: str) -> None:
    [found] = problems(f"settings: {{{fields}}}", "prices", "prices.generic")
    assert words in found.message


def test_tiers_are_those_of_the_vertical() -> None:
    [found] = problems("tier: hott, targets: [/x]", "listings", "listings.search")
    assert "did you mean 'hot'?" in found.message
    assert problems("tier: hot, targets: [/x]", "listings", "listings.search") == []
    [found] = problems("targets: [{url: /x, schedule: tier hott}]", "listings", "listings.search")
    assert (found.field, "did you mean 'hot'?" in found.message) == ("schedule", True)


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "a\\\\b", ".hidden", "-rf", "a\\nb", "x" * 101, "a\\0b"])
def test_a_name_that_is_a_path_or_a_command_is_refused(name: str) -> None:
    found = ProblemList()
    text = f'- {{name: "{name}", vertical: events, base_url: https://a.example, adapter: events.generic}}\n'
    read_sources(text.encode(), KNOWN, found)
    assert [each.field for each in found.found] in (["name"], [""])


@pytest.mark.parametrize("name", ["de-sluis", "Café 't Hoekje", "Theater a/d Parade".replace("/", "."), "東京 1", "a"])
def test_names_as_people_write_them_are_taken(name: str) -> None:
    found = ProblemList()
    text = f'- {{name: "{name}", vertical: events, base_url: https://a.example, adapter: events.generic}}\n'
    read_sources(text.encode(), KNOWN, found)
    assert found.found == []


def test_every_adapter_of_ours_says_which_settings_it_reads() -> None:
    ours = {adapter for vertical in VERTICALS.values() for adapter in vertical.adapters}
    assert ours == {name for name in known_settings(VERTICALS) if ":" not in name}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("every 999999999d", "a year at most"),
        ("every 367d", "a year at most"),
        ("0 0 6 * * *", "cron has five fields"),
        ("adaptive 1h-999999d", "a year at most"),
    ],
)
def test_schedules_that_nobody_means_are_refused(text: str, words: str) -> None:
    with pytest.raises(BadSchedule, match=words):
        parse_schedule(text)


@pytest.mark.parametrize("word", ["daily", "hourly", "weekly", "monthly", "Daily"])
def test_a_word_for_a_schedule_needs_no_sign_before_it(word: str) -> None:
    assert parse_schedule(word) == parse_schedule(f"@{word}")
    assert isinstance(parse_schedule(word), Cron)


def test_rows_of_a_targets_file_are_held_to_the_same() -> None:
    [source] = [plan.source for plan in read_sources((SMALL % ("events", "events.generic", "targets: []")).encode(),
                                                     KNOWN, ProblemList())]  # fmt: skip
    found = ProblemList()
    rows = "url,source,schedule,priority\n/a,a,every 999999999d,1\n/b,a,0 0 6 * * *,1\n/c,a,daily,5000\n/d,a,daily,1\n"
    plans = list(read_targets(rows.encode(), {"a": source}, KNOWN, found))
    assert [plan.line for plan in plans] == [5]
    assert [(each.line, each.field) for each in found.found] == [(2, "schedule"), (3, "schedule"), (4, "priority")]
