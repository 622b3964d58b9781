"""Documents, ladders, pagination and text."""

from collections.abc import Sequence

import pytest

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading import Document, absolute
from tidemill.reading.document import HEURISTIC_LIMIT
from tidemill.reading.ladder import Rung, first_usable
from tidemill.reading.pagination import next_url, total
from tidemill.reading.text import bounded, plain, squash
from tidemill.verticals.events.reading.events import have_own_urls, with_shared_urls_marked, without_duplicates


def raw(**fields: object) -> RawRecord:
    return RawRecord(fields=fields, strategy=Strategy.SELECTORS, confidence=0.9, origin="x")


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("/e/1", "https://a.nl/e/1"),
        ("e/1?x=1", "https://a.nl/agenda/e/1?x=1"),
        ("../e", "https://a.nl/e"),
        ("https://b.nl/x/y.html", "https://b.nl/x/y.html"),
        ("https://B.nl/x y", "https://b.nl/x%20y"),
        ("//b.nl/x", "https://b.nl/x"),
        ("/a/../b", "https://a.nl/b"),
        ("/a/./b?x=1&y=%20", "https://a.nl/a/b?x=1&y=%20"),
        ("/a.b//c..d/?x=1", "https://a.nl/a.b//c..d/?x=1"),
        ("/", "https://a.nl/"),
        ("#top", "https://a.nl/agenda/#top"),
        ("mailto:a@b.nl", ""),
        ("javascript:void(0)", ""),
        ("https://", ""),
        ("", ""),
    ],
)
def test_links_are_made_absolute(href: str, expected: str) -> None:
    assert absolute("https://a.nl/agenda/", href) == expected
    assert Document("", "https://a.nl/agenda/").absolute(href) == expected


def test_a_base_element_moves_what_links_are_relative_to() -> None:
    assert Document('<base href="/nl/"><a href=x>', "https://a.nl/").absolute("x") == "https://a.nl/nl/x"
    in_body = '<html><body><form><base href="/nl/"><a href=x>'  # where it does not belong, and browsers heed it
    assert Document(in_body, "https://a.nl/").absolute("x") == "https://a.nl/nl/x"
    assert Document('<b>basis</b><BASE HREF="/nl/">', "https://a.nl/").absolute("x") == "https://a.nl/nl/x"


def test_hidden_text_is_not_read() -> None:
    document = Document("<title>T  t</title><p>een<b>twee</b></p><script>drie</script><style>vier</style>")
    assert (document.title, document.text) == ("T t", "een twee")


def test_a_broken_selector_finds_nothing() -> None:
    assert Document("<p>x").css("p[[") == []


@pytest.mark.shows("P3")
def test_markup_over_the_limit_is_cut_for_heuristics_only() -> None:
    document = Document("<p>a</p>" * 70_000 + "<b>end</b>")
    assert document.truncated
    assert document.first("b") is not None
    assert document.bounded_tree.css_first("b") is None
    assert len(document.bounded_tree.html or "") <= HEURISTIC_LIMIT + 100


@pytest.mark.shows("P1")
def test_the_first_rung_with_a_usable_record_wins() -> None:
    rungs = [
        Rung(Strategy.JSONLD, lambda _: []),
        Rung(Strategy.SELECTORS, lambda _: [raw(a=1)]),
        Rung(Strategy.HEURISTICS, _never),
    ]
    assert [record.fields for record in first_usable(Document(""), rungs, bool).records] == [{"a": 1}]


@pytest.mark.shows("P1")
def test_a_rung_that_throws_is_noted_and_the_next_one_tried() -> None:
    rungs = [Rung(Strategy.JSONLD, _never), Rung(Strategy.SELECTORS, lambda _: [raw(a=1)])]
    result = first_usable(Document(""), rungs, bool)
    assert len(result.records) == 1
    assert list(result.notes) == ["json-ld: ZeroDivisionError: never"]


def test_records_that_nobody_can_use_stand_when_there_are_no_others() -> None:
    rungs = [Rung(Strategy.JSONLD, lambda _: [raw(a=1)]), Rung(Strategy.SELECTORS, lambda _: [])]
    result = first_usable(Document(""), rungs, lambda _: False)
    assert len(result.records) == 1
    assert list(result.notes) == ["json-ld: 1 records, none usable"]


def _never(_: Document) -> Sequence[RawRecord]:
    message = "never"
    raise ZeroDivisionError(message)


@pytest.mark.parametrize(
    "markup",
    [
        '<link rel="next" href="/agenda?p=2">',
        "<link rel='next' href='/agenda?p=2'>",
        "<p>Een text, een context, een regisseur<a rel=next href=/agenda?p=2>&gt;</a>",
        '<a rel="next" href="/agenda?p=2">&gt;</a>',
        '<ul class="pagination"><li><a href="/agenda?p=2">Volgende »</a></li></ul>',
        '<nav aria-label="Paginering"><a href="/agenda?p=2">Volgende pagina</a></nav>',
        '<nav class="pager" aria-label="paginatie"><a href="/agenda?p=2">volgende</a></nav>',
        '<div class="pager"><a class="x" href="?p=2">Next</a></div>',
        '<div class="pager"><a href="?p=1">1</a> <a href="?p=2">\u203a</a> <a href="?p=9">»</a></div>',
        '<ul class="pagination"><li><a href="/agenda?p=2">Older events</a></li></ul>',
    ],
)
def test_the_next_page_is_found(markup: str) -> None:
    assert next_url(Document(markup, "https://a.nl/agenda")) == "https://a.nl/agenda?p=2"


@pytest.mark.parametrize(
    "markup",
    [
        '<a rel="next" href="/agenda">zelf</a>',
        '<p>De <a href="/v">volgende</a> keer beter</p>',
        '<a class="slick-next" href="#">Volgende</a>',
        "niets",
    ],
)
def test_what_is_no_next_page_is_not_followed(markup: str) -> None:
    assert next_url(Document(markup, "https://a.nl/agenda")) is None


@pytest.mark.parametrize(
    ("markup", "count"),
    [
        ("<p>1-20 van 45 resultaten</p>", 45),
        ("<p>Showing <b>1</b> to <b>20</b> of <b>1,045</b></p>", 1045),
        ("<p>21 t/m 40 van de 45</p>", 45),
        ("<p>van 9 tot 17 uur</p>", None),
        ("<p>5 - 3 van 2</p>", None),
        (f"<p>{'é€😀' * 30} 1\u201320 van 45 😀</p>", 45),
    ],
)
def test_the_sites_own_total_is_read(markup: str, count: int | None) -> None:
    assert total(Document(markup)) == count


def test_a_double_is_kept_once() -> None:
    assert (
        len(without_duplicates([raw(title="a", starts="1"), raw(title="a", starts="1"), raw(title="a", starts="2")]))
        == 2
    )


def test_records_with_addresses_of_their_own_need_no_comparing() -> None:
    assert have_own_urls([raw(url="a"), raw(url="b")])
    assert not have_own_urls([raw(url="a"), raw(url="a")])
    assert not have_own_urls([raw(url="a"), raw(title="b")])
    assert not have_own_urls([raw(url="a", id="1"), raw(url="b", id="1")])


def test_an_address_or_id_that_is_shared_is_marked() -> None:
    first, second = with_shared_urls_marked([raw(url="u", id="1"), raw(url="u", id="1")])
    assert first.fields == second.fields == {"url": "u", "shared_url": True}


def test_text_is_made_fit_to_keep() -> None:
    assert squash(" a\u200b \n b\x00 ") == "a b"
    assert plain("<p>a&amp;b<br>c</p><script>d</script>") == "a&b c"
    assert plain("&lt;b&gt;vet&lt;/b&gt;") == "vet"
    assert plain("3 < 5 en 7 > 6") == "3 < 5 en 7 > 6"
    assert bounded("een twee drie vier", 10) == "een twee…"
