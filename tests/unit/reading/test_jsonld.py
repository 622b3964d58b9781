"""JSON-LD blocks: found, mended or skipped, one by one."""

from datetime import UTC, datetime

import pytest

from tidemill.reading import Document, ReadingContext
from tidemill.reading.jsonld import blocks
from tidemill.reading.jsonld_repair import repaired_values
from tidemill.reading.text import squash
from tidemill.verticals.events.reading.events import from_jsonld, read_events

pytestmark = pytest.mark.shows("P1")

SUNDAY = ReadingContext(now=datetime(2026, 11, 15, 12, tzinfo=UTC))
EVENT = '{"@type": "Event", "name": "Fanfare", "startDate": "2026-12-01T20:00"}'


def script(body: str) -> str:
    return f'<script type="application/ld+json">{body}</script>'


def titles(markup: str) -> list[str]:
    return [record.fields["title"] for record in from_jsonld(Document(markup, "https://a.nl/agenda"), SUNDAY)]


@pytest.mark.parametrize(
    "body",
    [
        EVENT,
        f"[{EVENT}]",
        f"[null, {EVENT}, []]",
        f'{{"@graph": [{EVENT}]}}',
        f'{{"@type": "ItemList", "itemListElement": [{{"@type": "ListItem", "item": {EVENT}}}]}}',
        f'{{"@type": "Place", "event": [{EVENT}]}}',
        f"<!-- {EVENT} -->",
        f"//<![CDATA[\n{EVENT}\n//]]>",
        f"/* <![CDATA[ */ {EVENT} /* ]]> */",
        f"{EVENT};",
        EVENT.replace("}", ",}"),
        EVENT.replace("{", "{ // what is on\n"),
        EVENT.replace("{", "{ /* what, is } on */"),
        EVENT.replace("{", '{"description": "one\nline\tand \x0b another",'),
        EVENT.replace("{", '{"description": "it\\\'s a \\x escape",'),
        EVENT.replace("{", '{"description": "half a smile \\ud83d",'),
        EVENT.replace('"', "&quot;"),
        f"{EVENT}{EVENT.replace('Fanfare', 'Koor')}",
    ],
)
def test_a_block_is_understood_however_it_is_written(body: str) -> None:
    assert titles(script(body))[0] == "Fanfare"


def test_a_broken_block_costs_its_neighbours_nothing() -> None:
    assert titles(script('{"@type": "Event", "name": oops') + script(EVENT)) == ["Fanfare"]


def test_one_bad_item_of_a_list_costs_its_neighbours_nothing() -> None:
    body = f'[{EVENT}, {{"@type": "Event", "name": }}, {EVENT.replace("Fanfare", "Koor")}]'
    assert titles(script(body)) == ["Fanfare", "Koor"]


def test_a_block_cut_short_keeps_what_is_whole() -> None:
    assert titles(script(f'{{"@graph": [{EVENT}, {{"@type": "Event", "na')) == ["Fanfare"]


def test_a_block_that_cannot_be_saved_is_marked_broken() -> None:
    (block,) = blocks(Document(script("not json at all")))
    assert block.broken
    assert block.value is None


def test_a_commented_out_script_is_not_on_the_page() -> None:
    assert titles(f"<!-- {script(EVENT)} -->") == []
    assert titles(f"<!doctype html><!-- A+B! <b>!</b> {script(EVENT)} -->") == []
    assert titles(f"<!doctype html><!-- A+B! -->{script(EVENT)}") == titles(script(EVENT)) != []


def test_a_type_in_capitals_is_found_in_the_tree() -> None:
    assert titles(f'<SCRIPT TYPE="Application/LD+JSON">{EVENT}</SCRIPT>') == ["Fanfare"]


def test_sub_events_are_events_and_super_events_only_references() -> None:
    body = (
        EVENT[:-1]
        + f', "subEvent": [{EVENT.replace("Fanfare", "Koor")}], "superEvent": {EVENT.replace("Fanfare", "X")}}}'
    )
    assert titles(script(body)) == ["Fanfare", "Koor"]


def test_entities_in_strings_are_decoded() -> None:
    assert titles(script(EVENT.replace("Fanfare", "Rock &amp; Rol"))) == ["Rock & Rol"]


@pytest.mark.shows("X11")
def test_a_record_says_where_it_and_its_fields_were_read() -> None:
    (record,) = from_jsonld(Document(script("[]") + script(f'{{"@graph": [{EVENT}]}}')), SUNDAY)
    assert record.origin == "json-ld/1/@graph/0"
    assert record.places["starts"] == "startDate"
    assert record.block == ""  # the origin names the object itself


def test_places_and_addresses_come_in_every_form() -> None:
    place = (
        '{"@type": "Place", "name": "Zaal", "address": {"streetAddress": "Dam 1", "addressLocality": "Edam"}, '
        '"geo": {"latitude": "52.5", "longitude": 5}}'
    )
    for location, name in (('"Zaal"', "Zaal"), (place, "Zaal"), (f'[{{"@type": "VirtualLocation"}}, {place}]', "Zaal")):
        (record,) = from_jsonld(Document(script(EVENT[:-1] + f', "location": {location}}}')), SUNDAY)
        assert record.fields["place"] == name
    assert record.fields["address"] == "Dam 1, Edam"
    assert record.fields["city"] == "Edam"
    assert record.fields["latitude"] == "52.5"


def test_a_place_may_be_a_reference_to_another_object() -> None:
    event = EVENT[:-1] + ', "location": {"@id": "#zaal"}}'
    body = f'{{"@graph": [{event}, {{"@id": "#zaal", "@type": "Place", "name": "Zaal"}}]}}'
    (record,) = from_jsonld(Document(script(body)), SUNDAY)
    assert record.fields["place"] == "Zaal"


def test_links_and_images_are_made_absolute() -> None:
    body = EVENT[:-1] + ', "url": "/e/1", "image": [{"@type": "ImageObject", "url": "i.jpg"}]}'
    (record,) = from_jsonld(Document(script(body), "https://a.nl/agenda/"), SUNDAY)
    assert record.fields["url"] == "https://a.nl/e/1"
    assert record.fields["image"] == "https://a.nl/agenda/i.jpg"


def test_a_list_of_dates_is_a_record_for_each() -> None:
    body = EVENT.replace('"2026-12-01T20:00"', '["2026-12-01", "2026-12-02"]')
    starts = [record.fields["starts"] for record in from_jsonld(Document(script(body)), SUNDAY)]
    assert starts == ["2026-12-01", "2026-12-02"]


def test_a_schedule_is_written_out() -> None:
    schedule = (
        '{"@type": "Schedule", "startDate": "2026-11-01", "endDate": "2026-12-08", "startTime": "19:30:00", '
        '"repeatFrequency": "P1W", "byDay": "https://schema.org/Tuesday", "exceptDate": "2026-11-24"}'
    )
    body = f'{{"@type": "Event", "name": "Repetitie", "eventSchedule": {schedule}}}'
    starts = [record.fields["starts"] for record in from_jsonld(Document(script(body)), SUNDAY)]
    assert starts == ["2026-11-17T19:30:00", "2026-12-01T19:30:00", "2026-12-08T19:30:00"]


def test_a_block_of_events_that_nobody_can_read_leaves_the_page_cut_short() -> None:
    broken = script('{"@type": "Event",,\n"name": "Kermis"]')
    whole = read_events(Document(script(EVENT), "https://a.nl/agenda"), SUNDAY)
    half = read_events(Document(broken + script(EVENT), "https://a.nl/agenda"), SUNDAY)
    assert (len(whole.records), whole.truncated) == (1, False)
    assert (len(half.records), half.truncated) == (1, True)


def test_a_block_of_which_only_a_part_was_saved_leaves_the_page_in_doubt() -> None:
    broken = '{"@graph":[{"@type":"WebPage","name":"Agenda"},{"@type":"Event",,""name":"Kermis"}]}'
    found = read_events(Document(script(f"[{EVENT}]") + script(broken)), SUNDAY)
    assert len(found.records) == 1
    assert found.truncated


def test_a_string_that_never_ends_costs_only_what_stands_behind_it() -> None:
    assert repaired_values('{"a": {"b": 1,}, "c": "' + '\\"' * 200_000) == [{"b": 1}]


def test_comments_behind_a_comma_are_read_in_one_way_only() -> None:
    assert repaired_values("[1, " + "/**/" * 2_000 + "]") == [[1]]
    assert repaired_values("[1, " + "/**/" * 2_000 + "x") == []


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("NaN", None), ("-Infinity", None), ("undefined", None), ("None", None), ("True", True), ("False", False),
        ("1e400", None), ("-1E+99999", None), ("9" * 5_000, None), (".5", 0.5), ("-.5", -0.5), ("5.", 5), ("1e5", 1e5),
        ('"NaN, 1e400 or True"', "NaN, 1e400 or True"),
    ],
)  # fmt: skip
def test_a_number_that_is_none_costs_its_neighbours_nothing(written: str, value: object) -> None:
    """One price of `NaN` lost every event of its block."""
    assert repaired_values(f'[{{"name": "Kermis", "x": {written}, }}]') == [[{"name": "Kermis", "x": value}]]


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("\u3164\u2800", ""), ("\u2066Kermis\u2069", "Kermis"), ("Ker\u00admis", "Kermis"),
        ("\U000e0041Kermis", "Kermis"), ("\u3164 Kermis", "\u3164 Kermis"), ("\u061c\ufff9", ""),
    ],
)  # fmt: skip
def test_what_nobody_sees_is_no_text(written: str, seen: str) -> None:
    assert squash(written) == seen
