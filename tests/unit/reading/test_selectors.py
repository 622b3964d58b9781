"""Selectors as data."""

import pytest

from tidemill.core.record import RawRecord
from tidemill.reading import Document, read_selectors
from tidemill.reading.selectors import MOST_NESTED

pytestmark = pytest.mark.shows("P1")

PAGE = """
<ul><li class=e data-id=7><h3><a href="/e/1">Koor  <b>zingt</b></a></h3>
<time datetime="2026-12-01T20:00">1 dec</time><p class=w>Kerk</p></li>
<li class=e><h3><a href="/e/2">Fanfare</a></h3><p class=d>2 december</p></li><li class=e></li></ul>
"""
SPEC = {
    "item": ".e",
    "title": "h3 a",
    "starts": ["time@datetime", ".d"],
    "url": "a@href",
    "id": "@data-id",
    "place": ".w",
}


def records() -> list[RawRecord]:
    return read_selectors(Document(PAGE, "https://a.nl/agenda"), SPEC)


def test_each_block_is_a_record_and_an_empty_one_is_none() -> None:
    assert [record.fields["title"] for record in records()] == ["Koor zingt", "Fanfare"]


def test_an_attribute_a_text_and_the_blocks_own_attribute_are_read() -> None:
    first, second = records()
    assert first.fields["starts"] == "2026-12-01T20:00"
    assert second.fields["starts"] == "2 december"
    assert first.fields["id"] == "7"


def test_an_absent_field_is_absent() -> None:
    assert "place" not in records()[1].fields


def test_links_are_absolute() -> None:
    assert records()[0].fields["url"] == "https://a.nl/e/1"


@pytest.mark.shows("X11")
def test_evidence_is_kept() -> None:
    first = records()[0]
    assert first.origin == "selectors/.e[0]"
    assert first.places["starts"] == "time@datetime | .d"
    assert first.block.startswith("<li")


def test_without_an_item_the_page_is_one_record() -> None:
    (record,) = read_selectors(Document("<h1>Kermis</h1><time>3 mei</time>"), {"title": "h1", "starts": "time"})
    assert record.fields == {"title": "Kermis", "starts": "3 mei"}


def test_blocks_far_within_each_other_are_left_out_and_the_page_says_so() -> None:
    """Each block is gone through whole: five hundred around one long list cost four seconds for 150 KB."""
    document = Document("<div class=e><h3>Koor</h3>" * 300 + "<p>3 mei</p>" * 5_000)
    assert len(read_selectors(document, {"item": ".e", "title": "h3"})) == MOST_NESTED
    assert "blocks of .e that lie within" in document.cut


def test_blocks_beside_each_other_are_all_read_however_deep_they_lie() -> None:
    document = Document("<div>" * 100 + "<p class=e><b class=w>Kerk</b></p>" * 50)
    assert len(read_selectors(document, SPEC)) == 50
    assert not document.cut


def test_a_selector_that_is_no_css_is_told() -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_selectors(Document(PAGE), {"item": "li[[", "title": "h3"})
