"""Markup that the parser could not digest in time is cut before it, with a reason; ordinary markup never is."""

import pytest

from tidemill.reading import Document
from tidemill.reading.limits.markup_limits import (
    MANY_TAGS,
    MOST_ATTRIBUTES,
    MOST_NAMES,
    MOST_NODES,
    MOST_OPTIONS,
    SHORT_MARKUP,
    _is_plainly_within,
    within_limits,
)
from tidemill.reading.limits.open_elements import MOST_DEPTH

BEYOND = {
    "balanced": ("<div>" * 20_000 + "</div>" * 20_000, "within each other"),
    "never closed": ("<p>x</p>" + "<section>" * 20_000, "within each other"),
    "lists in lists": ("<ul><li>" * 20_000, "within each other"),
    "in a link": ("<a href=x><div>" * 20_000, "within each other"),
    "attributes": ("<div " + " ".join(f"a{n}=1" for n in range(20_000)) + ">", "attributes"),
    "attributes that hide tags": ("<div " + " ".join(f"a{n}='<b>'" for n in range(20_000)) + ">", "attributes"),
    "attributes of bodies": ("".join(f"<body a{n}=1>" for n in range(20_000)), "attributes"),
    "options": ("<select>" + "<option>x</option>" * 20_000, "options"),
    "formatting": ("".join(f"<font color={n}><p>" for n in range(20_000)), "formatting"),
    "names": ("".join(f"<x{n}></x{n}>" for n in range(20_000)), "names of elements"),
    "names of attributes": ("".join(f"<i a{n}></i>" for n in range(100_000)), "names of attributes"),
    "not in order": ("<span><div></span></div>" * 20_000, "not closed in order"),
    "elements": ("<br>" * (MOST_NODES + 9), "elements"),
    "in a style that is none": ("<svg><style>" + "<div>" * 20_000, "within each other"),
    "behind a strange attribute": ('<p ="><i>">' + "<div>" * 20_000, "within each other"),
}
WITHIN = {
    "lists": "<ul>" + "<li>x" * 20_000 + "</ul>",
    "paragraphs": "<p>x<b>y</b>" * 20_000,
    "rows": "<table>" + "<tr><td>x<td><b>y</b>" * 20_000 + "</table>",
    "terms": "<dl>" + "<dt>x<dd>y" * 20_000,
    "selects": "<select><option>x<option>y</select>" * 5_000,
    "voids": "<img src=x>" * 20_000 + "<br/>" * 20_000,
    "drawings": "<svg><path d='M0'/><g><use/></g></svg>" * 20_000,
    "scripts": "<script>if (a<b) '<div>'</script>" * 20_000,
    "comments": "<!-- <div> -->" * 20_000,
    "bold anew": "<div><b>x</div>" * 3_000,
    "an open comment": "<!-- " + "<div>" * 20_000,
}


@pytest.mark.parametrize("name", BEYOND)
def test_markup_beyond_a_limit_is_cut_with_a_reason(name: str) -> None:
    markup, words = BEYOND[name]
    kept, reason = within_limits(markup)
    assert words in reason
    assert markup.startswith(kept)
    assert len(kept) < len(markup)


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_kept_is_within_the_limits(name: str) -> None:
    kept, _ = within_limits(BEYOND[name][0])
    assert within_limits(kept) == (kept, "")


@pytest.mark.parametrize("name", WITHIN)
def test_ordinary_markup_is_kept_whole(name: str) -> None:
    assert within_limits(WITHIN[name]) == (WITHIN[name], "")


def test_limits_are_beyond_what_pages_have() -> None:
    """Of 416 saved pages the deepest has 41 levels, and none more than 199 names of attributes."""
    deep = "<div>" * (MOST_DEPTH - 10) + "</div>" * (MOST_DEPTH - 10) + " " * SHORT_MARKUP
    assert within_limits(deep) == (deep, "")
    assert min(MOST_ATTRIBUTES, MOST_OPTIONS, MOST_NAMES) >= 500


PLAIN = {
    "a usual page": "<html><body>" + "<div class=x><p>a<b>b</b><br><ul><li>c<li>d</ul></div>" * 900,
    "tables": "<table>" + "<tr><td>x<td><b>y</b>" * 900 + "</table>",
    "drawings": "<svg><path d='M0'/><g><use/></g><filter><feBlend/></filter></svg>" * 900,
    "a few ends too many": "<div></div></div></span></p>" * 900,
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_markup_needs_no_exact_scan(name: str) -> None:
    assert _is_plainly_within(PLAIN[name] + " " * SHORT_MARKUP, MOST_ATTRIBUTES)


@pytest.mark.parametrize("name", BEYOND)
def test_markup_beyond_a_limit_does_not_look_plain(name: str) -> None:
    """Whatever is too much of a kind at once; what adds up over a page is bounded by the number of its tags."""
    markup = BEYOND[name][0]
    assert not (markup.count("<") <= MANY_TAGS and _is_plainly_within(markup, MOST_ATTRIBUTES))


def test_a_document_says_that_it_was_cut() -> None:
    document = Document("<h1>Agenda</h1>" + "<div>" * 20_000)
    assert document.first("h1") is not None
    assert "within each other" in document.cut
    assert Document("<h1>Agenda</h1>").cut == ""
