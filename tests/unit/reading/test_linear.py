"""Reading takes time in proportion to what is read, whoever wrote it.

Calls are counted, of Python functions and of those in C, so that the figures are the same on every machine. What a
regular expression does inside one call is not among them; there the processor's time is held against a wide limit.
"""

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import FrameType
from typing import Self

import pytest

from rig.hostile_shapes import MARKUP, TEXT
from tidemill.fetching.robots import Rules
from tidemill.reading import (
    Document,
    ReadingContext,
    availability_in,
    blocked,
    declares_empty,
    find_moments,
    jsonld,
    microdata,
    parse_moment,
    parse_moments,
    parse_money,
)
from tidemill.reading.embedded_json import values_in
from tidemill.reading.limits.markup_limits import FEW_TAGS
from tidemill.reading.text import plain, strip_tags
from tidemill.verticals.events import categories
from tidemill.verticals.events.reading.events import read_events
from tidemill.verticals.listings.reading import read_listings
from tidemill.verticals.prices.reading.reader import read_product

pytestmark = pytest.mark.shows("P3")

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
CONTEXT = ReadingContext(now=NOON)
MOST = 2.5
"""Twice the size may cost so much more."""
SLACK = 3_000
"""Calls that are not worth a word: the first time that something is looked up."""
LONGEST_SECONDS = 2.0


def document(markup: str) -> Document:
    return Document(markup, "https://a.test/x")


READERS: dict[str, Callable[[str], object]] = {
    "microdata": lambda markup: microdata.items(document(markup)),
    "rdfa": lambda markup: microdata.rdfa_items(document(markup)),
    "json-ld": lambda markup: jsonld.blocks(document(markup)),
    "events": lambda markup: read_events(document(markup), CONTEXT),
    "product": lambda markup: read_product(document(markup), "https://a.test/x"),
    "listings": lambda markup: read_listings(document(markup)),
    "blocked": lambda markup: blocked(document(markup)),
    "emptiness": lambda markup: declares_empty(document(markup)),
}
TEXT_READERS: dict[str, Callable[[str], object]] = {
    "moment": lambda text: parse_moment(text, NOON),
    "moments": lambda text: parse_moments(text, NOON),
    "moments in running text": lambda text: find_moments(text, NOON),
    "money": parse_money,
    "stock": availability_in,
    "plain": plain,
    "tags": strip_tags,
    "category": lambda text: categories.category_of("", "", text, text),
    "practical sentences": lambda text: categories._without_practical(f"{text} tickets {text}"),
    "robots": lambda text: Rules(f"User-agent: *\nDisallow: /{text}", "Tidemill").judge("https://a.test/x"),
}


class CallCount:
    """Counts the calls that are made while it is entered."""

    calls = 0

    def _count(self, _frame: FrameType, event: str, _argument: object) -> None:
        self.calls += event in {"call", "c_call"}

    def __enter__(self) -> Self:
        sys.setprofile(self._count)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)


def calls_of(read: Callable[[str], object], text: str) -> int:
    with CallCount() as count:
        read(text)
    return count.calls


@pytest.mark.parametrize("shape", MARKUP)
@pytest.mark.parametrize("reader", READERS)
def test_twice_the_markup_takes_at_most_so_many_more_calls(reader: str, shape: str) -> None:
    check(READERS[reader], MARKUP[shape], FEW_TAGS + 100)  # above it all pages are scanned for too much markup


@pytest.mark.parametrize("shape", TEXT)
@pytest.mark.parametrize("reader", TEXT_READERS)
def test_twice_the_text_takes_at_most_so_many_more_calls(reader: str, shape: str) -> None:
    check(TEXT_READERS[reader], TEXT[shape], 300)


def check(read: Callable[[str], object], shape: Callable[[int], str], size: int) -> None:
    read(shape(10))
    once, twice = calls_of(read, shape(size)), calls_of(read, shape(2 * size))
    assert twice <= MOST * once + SLACK, (once, twice)


@pytest.mark.parametrize("shape", MARKUP)
def test_a_large_page_is_read_within_bounds(shape: str) -> None:
    markup = MARKUP[shape](4_000)
    for read in (READERS["events"], READERS["product"], READERS["listings"]):
        began = time.thread_time()
        read(markup)
        assert time.thread_time() - began < LONGEST_SECONDS * max(1.0, len(markup) / 100_000)


@pytest.mark.parametrize("shape", TEXT)
@pytest.mark.parametrize("reader", TEXT_READERS)
def test_a_long_text_is_read_within_bounds(reader: str, shape: str) -> None:
    text = TEXT[shape](20_000)
    began = time.thread_time()
    TEXT_READERS[reader](text)
    assert time.thread_time() - began < LONGEST_SECONDS


def test_a_string_that_is_never_closed_is_gone_through_once() -> None:
    script = 'var p = {"name": "' + r"\"" * 40_000
    began = time.thread_time()
    assert not list(values_in(script))
    assert time.thread_time() - began < LONGEST_SECONDS


def test_each_block_of_structured_data_is_looked_at_by_itself() -> None:
    """Twenty thousand blocks on one page: asking each whether the whole page names anything took half a minute."""
    markup = "<p>Agenda</p>" + '<script type="application/ld+json">{"@type":"Thing"}</script>' * 20_000
    began = time.thread_time()
    READERS["events"](markup)
    assert time.thread_time() - began < LONGEST_SECONDS
