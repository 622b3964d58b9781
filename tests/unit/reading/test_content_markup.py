"""A limit on a page counts what people read, not the scripts before it."""

from tidemill.reading import Document
from tidemill.reading.document import HEURISTIC_LIMIT
from tidemill.reading.limits.content_markup import content_of_markup


def test_scripts_before_the_body_do_not_use_up_the_limit() -> None:
    scripts = f"<script>{'x' * HEURISTIC_LIMIT}</script>"
    document = Document(f"<html><head>{scripts}</head><body><p>Jazz in de kerk</p></body></html>")
    assert document.text == "Jazz in de kerk"
    assert not document.truncated


def test_content_beyond_the_limit_is_cut_and_says_so() -> None:
    document = Document(f"<body><p>first</p>{'<p>word</p>' * HEURISTIC_LIMIT}</body>")
    assert document.truncated


def test_comments_styles_and_drawings_are_no_content() -> None:
    markup = "<p>a</p><!-- <p>b</p> --><STYLE>p{}</STYLE ><svg><text>c</text></svg><p>d</p>"
    assert content_of_markup(markup) == "<p>a</p><p>d</p>"


def test_what_is_never_closed_stays_and_is_sought_once() -> None:
    markup = "<script " * 50_000
    assert content_of_markup(markup) == markup
