"""The adapters of the events vertical: records or a reason, never nothing."""

import json
from datetime import UTC, datetime

import pytest

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, Reading, Strategy
from tidemill.core.source import Source
from tidemill.core.vertical import Context, Vertical
from tidemill.verticals.events.definition import EVENTS

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
SPEC = {"item": ".e", "title": "h3", "starts": "time", "url": "a@href", "empty": "#leeg"}
LIST = "<div class=e><h3><a href=/1>Koor</a></h3><time>1 december 2026</time></div>" * 2


def read(markup: str, adapter: str = "events.generic", content_type: str = "text/html", **settings: object) -> Reading:
    page = Page(
        id=1, url="https://a.nl/", final_url="https://a.nl/", status_code=200, body=markup.encode(), charset="utf-8",
        content_type=content_type, digest=1, fetched_at=NOON,
    )  # fmt: skip
    source = Source(
        id=1, name="A", vertical="events", base_url="https://a.nl", adapter_id=adapter, adapter_settings=settings
    )
    return EVENTS.adapters[adapter].read(page, Context(source, page.url, NOON))


@pytest.mark.shows("P2")
def test_the_vertical_has_the_shape_that_the_stages_expect() -> None:
    vertical: Vertical = EVENTS
    assert vertical.name == "events"
    assert vertical.policy.name == "agenda"
    assert set(vertical.adapters) == {"events.generic", "events.selectors"}
    assert all(adapter.id == name for name, adapter in vertical.adapters.items())


@pytest.mark.shows("P1")
def test_the_sources_selectors_come_before_guessing() -> None:
    found = read(LIST, selectors=SPEC)
    assert isinstance(found, Found)
    assert {record.strategy for record in found.records} == {Strategy.SELECTORS}


@pytest.mark.shows("P1")
def test_a_selector_that_breaks_leaves_the_guess_and_a_note() -> None:
    found = read(LIST, selectors={"item": "[[", "title": "h3"})
    assert isinstance(found, Found)
    assert {record.strategy for record in found.records} == {Strategy.HEURISTICS}
    assert "selectors: ValueError" in found.notes[0]


@pytest.mark.shows("P3")
@pytest.mark.parametrize("adapter", ["events.generic", "events.selectors"])
def test_a_declared_empty_agenda_is_told_from_a_new_layout(adapter: str) -> None:
    empty = read("<main><h1>Agenda</h1><p>Er zijn geen evenementen gevonden.</p></main>", adapter, selectors=SPEC)
    marked = read(
        '<main><h1>Agenda</h1><p id="leeg">Tot volgend seizoen, beste mensen!</p></main>', adapter, selectors=SPEC
    )
    changed = read(
        "<main><h1>Agenda</h1><p>Hier staat straks een heel nieuwe agenda.</p></main>", adapter, selectors=SPEC
    )
    assert isinstance(empty, Found)
    assert empty.declared_empty
    assert isinstance(marked, Found)
    assert marked.declared_empty
    assert isinstance(changed, Fail)
    assert changed.failure is Failure.LAYOUT_CHANGED


@pytest.mark.shows("P4")
def test_a_blocked_page_is_not_a_new_layout() -> None:
    refusal = read("<h1>Access denied</h1>")
    assert isinstance(refusal, Fail)
    assert refusal.failure is Failure.BLOCKED_PAGE


def test_markup_inside_json_is_read() -> None:
    found = read(json.dumps({"status": "ok", "html": LIST}), content_type="application/json")
    assert isinstance(found, Found)
    assert [record.fields["title"] for record in found.records] == ["Koor"]


def test_a_bare_json_ld_document_is_read() -> None:
    body = json.dumps([{"@type": "Event", "name": "Koor</b>", "startDate": "2026-12-01"}])
    found = read(body, content_type="application/ld+json")
    assert isinstance(found, Found)
    assert [record.strategy for record in found.records] == [Strategy.JSONLD]


def test_what_is_no_text_is_refused() -> None:
    refusal = read("%PDF-1.7", content_type="application/pdf")
    assert isinstance(refusal, Fail)
    assert refusal.failure is Failure.NOT_HTML


@pytest.mark.shows("P2")
def test_the_selecting_adapter_without_selectors_says_what_is_missing() -> None:
    refusal = read(LIST, "events.selectors")
    assert isinstance(refusal, Fail)
    assert "selectors" in refusal.detail


def test_the_selecting_adapter_never_guesses() -> None:
    refusal = read(LIST, "events.selectors", selectors={"item": ".gone", "title": "h3"})
    assert isinstance(refusal, Fail)
    assert refusal.failure is Failure.LAYOUT_CHANGED
