"""The quick road must answer what the general road would, or nothing."""

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill.core.record import Strategy
from tidemill.reading import jsonld
from tidemill.reading.document import Document
from tidemill.verticals.events.lab.corpus import Corpus
from tidemill.verticals.events.reading import common_events, schema_events
from tidemill.verticals.events.reading.common_events import read_common

BASE = "https://podium.test/agenda"
EVENT = {
    "@type": "MusicEvent", "name": "Fanfare &amp; Co", "startDate": "2026-12-01T20:00:00+01:00",
    "location": {"@type": "Place", "name": "De Hal", "address": {"addressLocality": "Ede", "postalCode": "6711 AA"}},
}  # fmt: skip


def by_the_general_road(body):
    document = Document("", BASE)
    block = jsonld.block(0, body)
    known = jsonld.objects_by_id(block.value)
    return [
        record
        for path, item in jsonld.objects(block.value, schema_events.is_event, schema_events.NESTED)
        for record in schema_events.records_of(
            item, f"json-ld/0{path}", strategy=Strategy.JSONLD, confidence=0.95, absolute=document.absolute,
            known=known, today="2026-11-15",
        )
    ]  # fmt: skip


def encoded(value):
    return json.dumps(value).encode()


def quick(body):
    return read_common(body, "json-ld/0", 0.95, Document("", BASE).absolute)


def test_the_reference_pages_take_the_quick_road_and_read_the_same():
    for number in range(8):
        (body,) = jsonld.bodies(Document(Corpus(date(2026, 11, 16)).page(number), BASE))
        assert quick(body) == by_the_general_road(body) != []


def test_a_single_event_reads_the_same_on_both_roads():
    assert quick(encoded(EVENT)) == by_the_general_road(encoded(EVENT))


@pytest.mark.parametrize("entity", [b"&amp;", b"\\u0026amp;"])
def test_an_entity_is_decoded_however_json_spells_it(entity):
    body = encoded(EVENT).replace(b"&amp;", entity)
    assert quick(body) == by_the_general_road(body)
    assert quick(body)[0].fields["title"] == "Fanfare & Co"


def test_a_place_that_is_named_again_belongs_to_each_record_alone():
    first, second = quick(encoded([EVENT, EVENT]))
    first.fields["place"] = "elders"
    assert second.fields["place"] == "De Hal"
    assert quick(encoded(EVENT)) == by_the_general_road(encoded(EVENT))


def test_a_place_of_monstrous_length_is_read_and_not_remembered():
    body = encoded({**EVENT, "location": {"name": "De Hal " * 1_000}})
    before = common_events._remembered.cache_info().currsize
    assert quick(body) == by_the_general_road(body)
    assert common_events._remembered.cache_info().currsize == before


def test_bytes_that_do_not_decode_are_left_to_the_general_road():
    assert quick(encoded(EVENT).replace(b"De Hal", b"De H\xe4l")) is None


@pytest.mark.parametrize(
    "unusual",
    [
        {"subEvent": [EVENT]},
        {"eventSchedule": {"startDate": "2026-12-01"}},
        {"startDate": "2026-12-01"},
        {"startDate": ["2026-12-01T20:00", "2026-12-02T20:00"]},
        {"location": {"@id": "#hal"}},
        {"location": "De Hal"},
        {"location": [{"@type": "VirtualLocation"}]},
        {"name": {"@value": "Fanfare", "@language": "nl"}},
        {"@type": ["Event", "MusicEvent"]},
        {"@type": "Product"},
        {"identifier": "42"},
        {"image": {"@type": "ImageObject", "url": "/a.jpg"}},
        {"mainEntityOfPage": "/a"},
        {"photo": "/a.jpg"},
    ],
)
def test_anything_unusual_is_left_to_the_general_road(unusual):
    assert quick(encoded([EVENT, {**EVENT, **unusual}])) is None


words = st.sampled_from(
    ["", "De Hal", "a &amp; b", " x ", "Ede", "6711 AA", "https://x.test/a", "/a b", "http://[", "NL"]
)
places = st.fixed_dictionaries(
    {"name": words},
    optional={
        "@type": st.sampled_from(["Place", "VirtualLocation", "PostalAddress", "MusicVenue"]),
        "address": st.none() | words | st.dictionaries(
            st.sampled_from(["streetAddress", "postalCode", "addressLocality", "addressCountry", "@type"]), words
        ),
        "geo": st.none() | st.dictionaries(
            st.sampled_from(["latitude", "longitude"]), st.floats(-90, 90) | st.sampled_from(["", "52,1"]) | st.none()
        ),
    },
)  # fmt: skip
events = st.fixed_dictionaries(
    {
        "@type": st.sampled_from(["Event", "schema:MusicEvent", "https://schema.org/Festival", ""]),
        "name": words,
        "startDate": st.sampled_from(["2026-12-01T20:00", "2026-12-01T19:00:00Z", "2026-12-01", ""]),
        "location": places,
    },
    optional={
        "endDate": st.none() | st.sampled_from(["", "2026-12-01T22:00"]),
        "description": st.none() | words,
        "url": st.none() | words,
        "image": st.none() | words | st.lists(words),
        "organizer": st.none() | words | st.fixed_dictionaries({"name": words}),
        "eventStatus": st.none() | st.sampled_from(["https://schema.org/EventCancelled", ""]),
        "keywords": st.none() | words,
        "genre": words,
        "offers": st.just({"price": "1"}),
        "mainEntityOfPage": words,
        "summary": words,
        "photo": words,
        "abstract": words,
    },
)


others = st.sampled_from([
    {"@type": "WebPage", "name": "Events"}, {"@type": "Organization", "name": "De Hal", "event": EVENT},
    {"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "item": {"@id": "/a"}}]},
    {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": EVENT}]}, {"@id": "#hal"}, "text", 3,
    {"@type": ["Thing", "Festival"], "name": "F"},
])  # fmt: skip
graphs = st.lists(events | others, max_size=4).map(lambda parts: {"@context": "https://schema.org", "@graph": parts})
lists = st.lists(events, max_size=3).map(
    lambda parts: {
        "@type": "ItemList",
        "name": "Agenda",
        "itemListElement": [{"@type": "ListItem", "position": at, "item": one} for at, one in enumerate(parts)],
    }
)


@pytest.mark.parametrize(
    "value",
    [
        {"@context": "https://schema.org", "@graph": [{"@type": "WebPage", "name": "Agenda"}, EVENT, EVENT]},
        {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "position": 1, "item": EVENT}]},
    ],
)
@pytest.mark.shows("P1")
def test_graphs_and_lists_take_the_quick_road_and_read_the_same(value):
    assert quick(encoded(value)) == by_the_general_road(encoded(value)) != []


@pytest.mark.parametrize(
    "value",
    [
        {"@graph": [EVENT, {"@type": "Organization", "event": EVENT}]},
        {"@graph": [EVENT], "mainEntity": EVENT},
        {"@graph": [EVENT, {"@type": ["Thing", "Festival"], "name": "F"}]},
        {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": EVENT, "event": EVENT}]},
    ],
)
def test_events_elsewhere_in_a_graph_or_list_are_left_to_the_general_road(value):
    assert quick(encoded(value)) is None


@given(events | st.lists(events, min_size=1, max_size=3) | graphs | lists)
def test_whatever_the_quick_road_answers_the_general_road_answers_too(value):
    body = encoded(value)
    answer = quick(body)
    assert answer is None or answer == by_the_general_road(body)
