"""Microdata by the W3C's rules, and RDFa read alike."""

from datetime import UTC, datetime

import pytest

from tidemill.reading import Document, ReadingContext
from tidemill.reading.microdata import items, rdfa_items
from tidemill.verticals.events.reading.events import read_events

pytestmark = pytest.mark.shows("P1")

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def item(markup: str) -> dict[str, object]:
    (found,) = items(Document(markup, "https://a.nl/x/"))
    return found


def test_values_come_from_where_each_element_keeps_them() -> None:
    found = item(
        '<div itemscope itemtype="https://schema.org/Event"><meta itemprop="a" content="1">'
        '<link itemprop="b" href="/l">'
        '<time itemprop="c" datetime="2026-12-01">1 dec</time><data itemprop="d" value="7">zeven</data>'
        '<meter itemprop="e" value="3.5">x</meter><img itemprop="f" src="i.jpg">'
        '<span itemprop="g">  twee\n woorden</span></div>'
    )
    assert found == {
        "@type": "https://schema.org/Event", "a": "1", "b": "https://a.nl/l", "c": "2026-12-01", "c@text": "1 dec",
        "d": "7", "e": "3.5", "f": "https://a.nl/x/i.jpg", "g": "twee woorden",
    }  # fmt: skip


def test_an_item_in_an_item_is_its_property_and_no_item_of_the_page() -> None:
    assert item("<p itemscope><b itemprop=x itemscope><i itemprop=y>z</i></b></p>") == {"x": {"y": "z"}}


def test_a_property_that_stands_twice_is_a_list() -> None:
    assert item("<p itemscope><i itemprop=x>1</i><i itemprop=x>2</i></p>") == {"x": ["1", "2"]}


def test_itemref_adds_what_stands_elsewhere() -> None:
    assert item('<p itemscope itemref="q"><i itemprop=x>1</i></p><div id=q><i itemprop=y>2</i></div>') == {
        "x": "1",
        "y": "2",
    }


def test_an_itemref_to_itself_ends() -> None:
    assert item('<p itemscope id=p itemref="p"><i itemprop=x>1</i></p>') == {"x": "1"}


def test_rdfa_says_the_same_with_other_attributes() -> None:
    (found,) = rdfa_items(
        Document('<p vocab="https://schema.org/" typeof="Event"><b property="schema:name">Koor</b></p>')
    )
    assert found == {"@type": "Event", "name": "Koor"}


def test_a_stamp_in_utc_gives_way_to_the_local_time_beside_it() -> None:
    markup = (
        '<div itemscope itemtype="http://schema.org/Event"><b itemprop="name">Raad</b>'
        '<time itemprop="startDate" datetime="2026-12-02T00:00+00:00">1 december 2026 19:00 uur</time></div>'
    )
    (record,) = read_events(Document(markup, "https://a.nl/"), ReadingContext(now=NOON)).records
    assert record.fields["starts"] == "2026-12-01T19:00+01:00"
