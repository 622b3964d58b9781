import pytest

from tidemill.reading.sanitize import sanitized_html

pytestmark = pytest.mark.shows("A4")


@pytest.mark.parametrize(
    "markup",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "<a href='javascript:alert(1)'>x</a>",
        "<a href='java\nscript:alert(1)'>x</a>",
        "<a href=' &#106;avascript:alert(1)'>x</a>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<object data='data:text/html,alert(1)'></object>",
        "<form action='javascript:alert(1)'><button formaction='javascript:alert(1)'>x</button></form>",
        "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
        "<base href='https://alert.example/'>",
    ],
)
def test_nothing_that_acts_is_left(markup: str) -> None:
    assert "alert" not in sanitized_html(f"<html><body><h1>Agenda</h1>{markup}</body></html>")


def test_what_is_only_to_be_read_stays() -> None:
    kept = sanitized_html(
        "<h1 class=big>Agenda</h1><a href='/agenda?p=1:2'>more</a><img src='data:image/png;base64,x'>"
    )
    for words in ("Agenda", 'class="big"', "/agenda?p=1:2", "data:image/png"):
        assert words in kept
