"""The mix must be fair: nothing on it repeats, the plain readers find everything, and a wrong result is void."""

from datetime import date

import pytest
from benchmarks.extremes import Measured, checked
from benchmarks.goals import goals
from benchmarks.mixed_pages import CARDS, GRAPH, KINDS, PRODUCT, mixed_page, mixed_urls, wanted
from benchmarks.mixed_reading import read_plainly
from benchmarks.second_pages import KINDS as SECOND_KINDS
from benchmarks.second_pages import second_page
from benchmarks.second_reading import read_second_plainly, read_second_with_scrapy
from benchmarks.task import EVENTS_PER_PAGE, Figures, Task
from scrapy.http import HtmlResponse

TODAY = date(2026, 11, 18)
TASK = Task(["http://a", "http://b", "http://c"], 9, "", "")


def _rows(kind, numbers):
    pages = [(mixed_page(kind, TODAY, number), f"http://a/{kind}/{number}") for number in numbers]
    return [read_plainly(body, url, kind) for body, url in pages]


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_the_same_every_time_and_large_enough_to_count(kind):
    assert mixed_page(kind, TODAY, 7) == mixed_page(kind, TODAY, 7)
    assert len(mixed_page(kind, TODAY, 7)) > 20_000


@pytest.mark.parametrize("kind", [GRAPH, CARDS])
def test_no_address_title_or_moment_of_an_event_repeats(kind):
    events = [event for found, _ in _rows(kind, range(30)) for event in found]
    assert len(events) == 30 * EVENTS_PER_PAGE
    for column in range(3):
        assert len({event[column] for event in events}) == len(events)


def test_the_plain_readers_find_the_product_and_its_price():
    rows = _rows(PRODUCT, range(20))
    assert all(not events and len(products) == 1 for events, products in rows)
    assert len({products[0][2] for _, products in rows}) == 20
    assert all(products[0][4] >= 500 for _, products in rows)


def test_each_host_has_one_kind_of_page_and_every_kind_comes():
    kinds: dict[str, set[str]] = {}
    for url, kind in mixed_urls(TASK):
        kinds.setdefault(url.split("/")[2], set()).add(kind)
    assert sorted(map(sorted, kinds.values())) == sorted([kind] for kind in KINDS)
    assert wanted(TASK) == {"pages": 9, "events": 6 * EVENTS_PER_PAGE, "products": 3}


def _figures(seconds, **found):
    return Figures(seconds, seconds, 100.0, {**wanted(TASK), **found})


def test_an_event_too_few_or_unpublished_voids_the_figure():
    assert checked("m", TASK, _figures(1.0, events=95), "").problem == "events: 95 where 96 should be"
    assert checked("m", TASK, _figures(1.0, published=90), "").problem == "published: 90 where 96 should be"


def test_the_goals_of_the_mix_compare_within_a_round():
    seconds = {"tidemill": 2.0, "scrapy": 5.0, "bare": 1.0}
    runs: list[Measured] = [
        checked(f"mix, round 1: {name}", TASK, _figures(took), "") for name, took in seconds.items()
    ]
    assert [(goal.name, goal.value, goal.holds) for goal in goals([], runs)] == [
        ("mixed pages a second against tuned Scrapy", 2.5, True),
        ("mixed pages a second against the bare script", 0.5, False),
    ]


@pytest.mark.parametrize("kind", SECOND_KINDS)
def test_both_plain_readers_of_the_second_mix_find_the_same_on_a_page_of_real_size(kind):
    body, url = second_page(kind, TODAY, 7), f"http://a/{kind}/7"
    assert len(body) > 60_000
    events, products = read_second_plainly(body, url, kind)
    assert (events, products) == read_second_with_scrapy(HtmlResponse(url, body=body, encoding="utf-8"), kind)
    assert (len(events), len(products)) == ((0, 1) if kind == PRODUCT else (EVENTS_PER_PAGE, 0))
    assert body == second_page(kind, TODAY, 7)
