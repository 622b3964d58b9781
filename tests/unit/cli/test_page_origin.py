"""A page is asked for its language and its country before anything is assumed."""

import pytest

from rig.clock import NOON
from tidemill.cli.commands.pages.parse import written
from tidemill.cli.page_origin import needs_scripts, page_language, page_zone
from tidemill.cli.page_reading import vertical_of
from tidemill.core.page import Page
from tidemill.operations.mistakes import NotFound

pytestmark = pytest.mark.shows("A3")


def page(markup: str, url: str = "https://www.site.example/agenda") -> Page:
    return Page(
        id=0, url=url, final_url=url, status_code=200, body=markup.encode(), charset="utf-8",
        content_type="text/html", digest=1, fetched_at=NOON,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("markup", "url", "language", "zone"),
    [
        ('<html lang="de-DE"><p>x', "https://a.example/", "de", "Europe/Berlin"),
        ('<html class="x" lang=fr>', "https://a.example/", "fr", "Europe/Paris"),
        ('<meta property="og:locale" content="it_IT">', "https://a.example/", "it", "Europe/Rome"),
        ('<html lang="en">', "https://a.co.uk/", "en", "Europe/London"),
        ('<html lang="en"><meta itemprop="priceCurrency" content="USD">', "https://a.com/", "en", "America/New_York"),
        ('<html lang="klingon">', "https://a.example/", "nl", "Europe/Amsterdam"),
        ("<p>no word", "https://a.example/", "nl", "Europe/Amsterdam"),
    ],
)
def test_a_page_says_its_language_and_its_clock(markup: str, url: str, language: str, zone: str) -> None:
    found = page(markup, url)
    assert page_language(found)[0] == language
    assert page_zone(found, language)[0] == zone


def test_what_is_assumed_is_called_so() -> None:
    assert page_language(page("<p>"))[1] == page_zone(page("<p>"), "nl")[1] == "assumed"


def test_a_page_that_needs_scripts_says_so_in_its_noscript() -> None:
    assert needs_scripts(page("<noscript>Please enable JavaScript to run this app.</noscript><div id=root></div>"))
    assert not needs_scripts(page('<noscript><img src="/pixel"></noscript><p>JavaScript course, Friday'))


def test_an_adapter_is_found_without_its_vertical() -> None:
    assert vertical_of("prices.generic", "events").name == "prices"
    assert vertical_of(None, "events").name == "events"
    with pytest.raises(NotFound, match=r"did you mean 'prices.generic'"):
        vertical_of("prices.genric", "events")


def test_amounts_are_written_as_people_do() -> None:
    assert written(1495, is_amount=True) == "14.95"
    assert written(1495, is_amount=False) == 1495
