"""Pages that are no pages, and ordinary ones that only look like it."""

import pytest

from tidemill.core.failure import Failure
from tidemill.reading import Document, blocked, declares_empty


@pytest.mark.shows("P4")
@pytest.mark.parametrize(
    "markup",
    [
        "<title>Access Denied</title><h1>Access Denied</h1><p>You don't have permission.</p>",
        "<h1>403 Forbidden</h1><hr>nginx",
        "<p>Please verify you are human</p><div class=g-recaptcha></div>",
        "<title>Just a moment...</title><p>Checking your browser before accessing</p>",
        "<p>Please enable JavaScript to continue using this application.</p>",
        "<h1>Toegang geweigerd</h1>",
        "<p>Your request was blocked.</p><p>Reference 18.2f</p>",
        "<h1>Sorry</h1><p>The security service of this site has blocked the action you just performed.</p>",
        "<p>We detected unusual activity from your network.</p>",
        "<title>Agenda</title><script src='https://x.token.awswaf.com/challenge.js'></script><p>One moment please</p>",
        "<h1>429</h1><p>Too many requests</p>",
        "<p>Wij gebruiken cookies. Accepteer cookies of weiger cookies om verder te gaan.</p>",
    ],
)
def test_a_page_that_is_only_a_notice_is_blocked(markup: str) -> None:
    refusal = blocked(Document(markup, "https://a.nl/"))
    assert refusal is not None
    assert refusal.failure is Failure.BLOCKED_PAGE


@pytest.mark.shows("P4")
@pytest.mark.parametrize(
    "markup", ["", "   \n", "<html><body></body></html>", "<div id=app></div><script>x=1</script>"]
)
def test_a_page_without_text_is_empty(markup: str) -> None:
    refusal = blocked(Document(markup, "https://a.nl/"))
    assert refusal is not None
    assert refusal.failure is Failure.EMPTY_PAGE


@pytest.mark.shows("P4")
@pytest.mark.parametrize(
    "markup",
    [
        "<h1>Agenda</h1><p>Deze site gebruikt cookies.</p><p>Jazz in de kerk, 3 december, kaarten aan de zaal.</p>",
        "<h1>Nieuws</h1>" + "<p>Een artikel over captcha en cookies, met een lang verhaal erbij over toegang.</p>" * 30,
        "<h1>Contact</h1>" + "<a href=/x>Menu</a>" * 12 + "<p>Stuur ons een bericht.</p><div class=g-recaptcha></div>",
    ],
)
def test_an_ordinary_page_is_not_blocked_for_what_it_mentions(markup: str) -> None:
    assert blocked(Document(markup, "https://a.nl/")) is None


@pytest.mark.shows("P3")
@pytest.mark.parametrize(
    "words",
    [
        "Er zijn geen evenementen gevonden.",
        "Er zijn op dit moment geen activiteiten gepland",
        "Helaas, geen resultaten.",
        "Geen voorstellingen gevonden",
        "De agenda is momenteel leeg",
        "There are no upcoming events at this time.",
        "No events found",
        "No upcoming meetings",
    ],
)
def test_an_empty_agenda_says_so(words: str) -> None:
    assert declares_empty(Document(f"<main><p>{words}</p></main>"))


@pytest.mark.shows("P3")
@pytest.mark.parametrize(
    "words", ["Er zijn geen kosten aan verbonden", "Geen hond te bekennen", "No dogs allowed at events"]
)
def test_other_nothings_do_not_make_an_agenda_empty(words: str) -> None:
    assert not declares_empty(Document(f"<main><p>{words}</p></main>"))


@pytest.mark.shows("P3")
def test_an_adapters_own_mark_of_emptiness_counts() -> None:
    assert declares_empty(Document('<p id="leeg">Tot gauw!</p>'), "#leeg") == "Tot gauw!"
