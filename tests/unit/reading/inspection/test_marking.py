"""Values marked on a stored page, the page rebuilt without anything that acts, and selectors from a click."""

import json
import re
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.document import Document
from tidemill.reading.inspection.changes import changed_lines
from tidemill.reading.inspection.data_values import data_texts
from tidemill.reading.inspection.harmless import harmless_body
from tidemill.reading.inspection.marking import MarkKind, elements_of, fields_of_marks, marks_on
from tidemill.reading.inspection.picking import block_choices, element_at, tried_way, ways_to
from tidemill.reading.inspection.shown_data import marked_data
from tidemill.reading.selectors import read_selectors

pytestmark = pytest.mark.shows("X11")

AGENDA = """<html><head><title>Agenda</title>
<script type="application/ld+json">
{"@type":"Event","name":"Caf\\u00e9 chantant","startDate":"2026-03-05"}</script></head>
<body><h1>Agenda</h1><ul>
<li class="event"><h3><a href="/jazz">Jazz night</a></h3>
<time datetime="2026-03-03">3 maart</time> <span class="venue">De Zaal</span></li>
<li class="event"><h3><a href="/film">Film night</a></h3>
<time datetime="2026-03-04">4 maart</time> <span class="venue">Cinema</span></li>
</ul><div itemscope itemtype="https://schema.org/Event"><b itemprop="name">Open dag</b></div></body></html>"""
DOCUMENT = Document(AGENDA, "https://a.example/agenda")


def record(fields: dict[str, Any], **other: Any) -> RawRecord:
    given: dict[str, Any] = {"strategy": Strategy.HEURISTICS, "confidence": 1.0, "origin": ""} | other
    return RawRecord(fields=fields, **given)


def test_what_selectors_read_is_marked_where_it_stands() -> None:
    records = read_selectors(
        DOCUMENT, {"item": ".event", "title": "h3 a", "starts": "time@datetime", "place": ".venue"}
    )
    marks = {(each.record, each.field): each for each in marks_on(DOCUMENT, records)}
    assert {each.kind for each in marks.values()} == {MarkKind.EXACT}
    elements = elements_of(DOCUMENT)
    assert elements[marks[1, "title"].element or 0].text() == "Film night"
    assert elements[marks[1, "starts"].element or 0].tag == "time"
    assert elements[marks[0, "place"].element or 0].text() == "De Zaal"


def test_what_json_ld_told_is_shown_in_its_block() -> None:
    (mark,) = marks_on(DOCUMENT, [record({"starts": "2026-03-05"}, strategy=Strategy.JSONLD, origin="json-ld/0")])
    assert mark.kind is MarkKind.DATA
    assert mark.snippet is not None
    assert mark.snippet[0].endswith('"startDate":"')
    assert mark.snippet[1] == "2026-03-05"


def test_a_property_of_microdata_is_marked() -> None:
    found = record({"title": "Open dag"}, strategy=Strategy.MICRODATA, origin="microdata/0", places={"title": "name"})
    (mark,) = marks_on(DOCUMENT, [found])
    assert mark.kind is MarkKind.EXACT
    assert elements_of(DOCUMENT)[mark.element or 0].tag == "b"


def test_what_a_good_look_found_is_marked_in_its_block() -> None:
    block = DOCUMENT.css("li.event")[1]
    found = record({"place": "Cinema"}, origin="heuristics/body > ul > li[7]", block=block.html or "")
    (mark,) = marks_on(DOCUMENT, [found])
    assert mark.kind is MarkKind.BLOCK
    assert elements_of(DOCUMENT)[mark.element or 0].text() == "Cinema"


def test_what_is_not_on_the_page_is_said_to_be_nowhere() -> None:
    found = record({"title": "Circus", "x": "a"})
    assert [each.kind for each in marks_on(DOCUMENT, [found])] == [MarkKind.NOWHERE, MarkKind.NOWHERE]


HOSTILE = [
    "<script>document.title='owned'</script>",
    "<img src=x onerror=alert(1)>",
    "<svg><script>alert(1)</script><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<a href='javascript:alert(1)'>go</a><form action=//e.test><button formaction=//e.test>b</button></form>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe><object data=//e.test></object><embed src=//e.test>",
    "<base href=//e.test><link rel=stylesheet href=//e.test><meta http-equiv=refresh content=0;url=//e.test>",
    "<style>*{background:url(//e.test)}</style><div style='background:url(//e.test)' class=tm-mark id=main>x</div>",
    "<template><script>alert(1)</script></template><x-thing onclick=alert(1)>own element</x-thing>",
    "<textarea></textarea><script>alert(1)</script>",
    "<plaintext><b>", '<p title="&quot;><script>alert(1)</script>">t</p>',
    "</body></html><script>alert(1)</script>", "<video src=//e.test poster=//e.test></video>",
    "<table background=//e.test><td colspan=9999999 rowspan=-1 onfocus=alert(1) autofocus tabindex=1>c</td></table>",
]  # fmt: skip


@pytest.mark.parametrize("markup", HOSTILE)
def test_nothing_that_acts_or_loads_comes_through(markup: str) -> None:
    document = Document(f"<body><p>before</p>{markup}", "https://a.example/")
    rebuilt = LexborHTMLParser(harmless_body(document, {}, lambda number: f"/pages/1/pick?element={number}"))
    assert not rebuilt.css(
        "script, style, img, iframe, object, embed, form, input, button, svg, math, link, meta, base, video"
    )
    for node in rebuilt.css("*"):
        for name, value in node.attributes.items():
            assert name in {"href", "target", "colspan", "rowspan", "dir"}, (name, value)
            if name == "href":
                assert re.fullmatch(r"/pages/1/pick\?element=\d+", value or "")
    assert "e.test" not in (rebuilt.html or "")


def test_deep_and_wide_pages_are_rebuilt_within_bounds() -> None:
    deep = harmless_body(Document("<div>" * 20_000 + "x"), {})
    assert len(deep) < 3_000_000
    wide = harmless_body(Document("<p>word</p>" * 200_000), {}, lambda number: f"/pages/1/pick?element={number}")
    assert len(wide) < 2_100_000


def test_a_marked_element_carries_its_field_and_hostile_values_stay_text() -> None:
    document = Document('<body><p class="a">x"&gt;&lt;script&gt;</p>')
    marks = marks_on(document, [record({"title": 'x"><script>'})])
    rebuilt = LexborHTMLParser(harmless_body(document, fields_of_marks(marks)))
    node = rebuilt.css_first(".tm-mark")
    assert node is not None
    assert node.attributes["title"] == 'title: x"><script>'
    assert not rebuilt.css("script")


def number_of(selector: str, index: int = 0) -> int:
    wanted = DOCUMENT.css(selector)[index].mem_id
    return next(number for number, node in enumerate(elements_of(DOCUMENT)) if node.mem_id == wanted)


def test_a_click_makes_selectors_that_find_the_same_in_every_block() -> None:
    node = element_at(DOCUMENT, number_of(".venue", 1))
    assert node is not None
    (block, *_, whole) = block_choices(DOCUMENT, node)
    assert (block.selector, block.count, whole.selector) == ("li.event", 2, "")
    ways = ways_to(DOCUMENT, node, block.selector)
    assert ways[0] == "span.venue"
    assert list(tried_way(DOCUMENT, block.selector, ways[0]).values) == ["De Zaal", "Cinema"]


def test_a_machine_readable_date_is_offered_before_its_words() -> None:
    node = element_at(DOCUMENT, number_of("time"))
    assert node is not None
    assert ways_to(DOCUMENT, node, "li.event")[:2] == ["time@datetime", "time"]


def test_a_broken_selector_finds_nothing() -> None:
    assert tried_way(DOCUMENT, "li[[", ".x").blocks == 0
    assert element_at(DOCUMENT, 99_999) is None


def test_changes_are_lines_that_came_and_went() -> None:
    after = Document(AGENDA.replace("Film night", "Opera night"))
    signs = [(each.sign, each.line) for each in changed_lines(DOCUMENT, after) if each.sign != " "]
    assert signs == [("-", "Film night"), ("+", "Opera night")]
    assert changed_lines(DOCUMENT, DOCUMENT) == []


FEED = """{"total": 2, "homes": [
  {"zpid": "a1", "name": "Union House", "hdpUrl": "/home/1", "rent": {"min": 3750, "max": 3900}, "beds": 1},
  {"zpid": "a2", "name": "Caf\\u00e9 Court", "hdpUrl": "/home/2", "rent": {"min": 2100, "max": 2100}, "beds": 1}]}"""
STATE = """<html><body><h1>Homes</h1><div id="app"></div><script src="/app.js"></script>
<script>var config = {"beds": 1};</script>
<script>window.__STATE__ = {"results": {"list": [{"id": "x9", "title": "Dock 7", "rent": 1200, "beds": 2}]}};</script>
</body></html>"""


def of_data(origin: str, fields: dict[str, Any], places: dict[str, str]) -> RawRecord:
    return record(fields, strategy=Strategy.DATASET, origin=origin, places=places)


def marked_words(document: Document, found: RawRecord) -> dict[str, str]:
    """What is marked of each field, in the data."""
    texts = data_texts(document)
    marks = marks_on(document, [found])
    assert {each.kind for each in marks} == {MarkKind.DATA}
    return {
        each.field: texts[each.data.text].text[each.data.begins : each.data.ends]
        for each in marks
        if each.data is not None
    }


def test_a_value_of_a_json_feed_is_marked_in_its_own_record() -> None:
    document = Document(FEED, "https://a.example/homes.json")
    second = of_data(
        "items/1",
        {"id": "a2", "title": "Café Court", "url": "https://a.example/home/2", "rent": "2100", "beds": "1"},
        {"id": "zpid", "title": "name", "url": "hdpUrl", "rent": "rent.min", "beds": "several fields"},
    )
    assert marked_words(document, second) == {
        "id": "a2", "title": "Caf\\u00e9 Court", "url": "/home/2", "rent": "2100", "beds": "1",
    }  # fmt: skip
    (beds,) = [each for each in marks_on(document, [second]) if each.field == "beds"]
    assert beds.data is not None
    assert beds.data.begins > FEED.index("a2"), "the 1 of this record, not that of the first"


def test_a_line_of_json_lines_is_told_from_its_neighbours() -> None:
    lines = Document('{"id": "a1", "city": "Troy"}\n{"id": "a2", "city": "Troy"}\n', "https://a.example/homes.jsonl")
    (mark, _) = marks_on(lines, [of_data("items/1", {"city": "Troy", "id": "a2"}, {"city": "city", "id": "id"})])
    assert mark.data is not None
    assert mark.data.begins > lines.markup.index("\n")


def test_a_value_of_a_scripts_state_is_marked_in_the_script() -> None:
    document = Document(STATE, "https://a.example/homes")
    home = of_data("script/2/results/list/0", {"id": "x9", "title": "Dock 7", "beds": "2"}, {"title": "title"})
    assert marked_words(document, home) == {"id": "x9", "title": "Dock 7", "beds": "2"}


def test_what_a_feed_tells_in_parts_is_marked_by_the_part() -> None:
    feed = Document('{"match": {"teamA": "Exeter", "balls": [{"runs": 4}]}}', "https://a.example/m.json")
    found = of_data("json/0", {"title": "Exeter", "balls": [{"runs": "4"}]}, {})
    kinds = {each.field: each.kind for each in marks_on(feed, [found])}
    assert kinds == {"title": MarkKind.DATA, "balls": MarkKind.DATA}


def test_the_data_of_a_page_is_shown_with_its_values_marked_and_nothing_of_it_acts() -> None:
    hostile = '[{"id": "a1", "name": "<script>alert(1)</script><b onclick=alert(2)>"}]'
    document = Document(hostile, "https://a.example/x")
    found = of_data("items/0", {"id": "a1", "title": "<script>alert(1)</script>"}, {"id": "id", "title": "name"})
    shown = marked_data(data_texts(document), marks_on(document, [found]))
    tree = LexborHTMLParser(shown)
    assert tree.css("script, b") == []
    assert [each.text() for each in tree.css(".tm-mark")] == ["a1", "<script>alert(1)</script><b onclick=alert(2)>"]


def test_a_long_text_of_data_is_shown_around_what_is_marked() -> None:
    text = json.dumps([{"id": f"n{number}", "filler": "x" * 1_000} for number in range(500)])
    document = Document(text, "https://a.example/x")
    shown = marked_data(data_texts(document), marks_on(document, [of_data("items/400", {"id": "n400"}, {"id": "id"})]))
    assert len(shown) < 10_000
    assert ">n400</span>" in shown
