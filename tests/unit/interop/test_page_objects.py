"""Page objects of web-poet run as adapters, unchanged."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from rig.foreign import poet_agenda, poet_embedded, poet_shop
from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, Reading
from tidemill.core.source import FetcherKind, Source
from tidemill.core.vertical import Context
from tidemill.interop.adapter_table import AdapterTable
from tidemill.interop.foreign_code import FOREIGN_CODE

pytestmark = pytest.mark.shows("X12")

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
TABLE = AdapterTable({}, FOREIGN_CODE)


def page_of(url: str, body: str, content_type: str = "text/html; charset=utf-8") -> Page:
    return Page(
        id=1, url=url, final_url=url, status_code=200, body=body.encode(), charset="utf-8", content_type=content_type,
        digest=0, fetched_at=NOON,
    )  # fmt: skip


def read(cls: type[Any], url: str, body: str, settings: Mapping[str, Any] | None = None) -> Reading:
    name = f"poet:{cls.__module__}:{cls.__name__}"
    source = Source(
        id=1, name="s", vertical="v", base_url=url, adapter_id=name, adapter_settings=settings or {},
        fetcher=FetcherKind.HTTP,
    )  # fmt: skip
    return TABLE[name].read(page_of(url, body), Context(source, url, NOON))


def fields_of(reading: Reading) -> list[Mapping[str, Any]]:
    assert isinstance(reading, Found), reading
    return [record.fields for record in reading.records]


AGENDA = """<h1>Agenda</h1><ul class=agenda>
<li><b>Choir</b> <time datetime=2026-12-01T20:00>1 dec</time> <i>Town hall</i></li>
<li><b>Market</b> <time datetime=2026-12-02>2 dec</time> <i>Square</i></li></ul>"""


def test_an_item_that_holds_several_gives_a_record_each_by_a_table_of_fields():
    settings = {"items": "entries", "fields": {"place": "where.hall"}}
    found = read(poet_agenda.AgendaPage, "https://south.example/agenda", AGENDA, settings)
    assert [(one["title"], one["starts"], one["place"]) for one in fields_of(found)] == [
        ("Choir", "2026-12-01T20:00", "Town hall"),
        ("Market", "2026-12-02", "Square"),
    ]


def test_every_record_says_where_it_was_read():
    found = read(poet_agenda.AgendaPage, "https://south.example/", AGENDA, {"items": "entries"})
    assert isinstance(found, Found)
    assert [record.origin for record in found.records] == ["AgendaPage/0", "AgendaPage/1"]
    assert found.records[0].places["title"] == "name"


def test_a_rule_puts_one_page_object_in_the_place_of_another_for_its_site():
    body = "<article><h2>Regatta</h2></article>"
    found = read(poet_agenda.AgendaPage, "https://north.example/", body, {"items": "entries"})
    assert [one["title"] for one in fields_of(found)] == ["Regatta"]


def test_a_page_object_that_does_not_know_the_page_is_drift_and_one_that_wants_it_again_is_tried_again():
    unknown = read(poet_agenda.AgendaPage, "https://south.example/", "<p>new</p>", {"items": "entries"})
    again = read(poet_agenda.AgendaPage, "https://south.example/", "<p class=maintenance>x</p>", {"items": "entries"})
    assert (getattr(unknown, "failure", None), getattr(again, "failure", None)) == (
        Failure.LAYOUT_CHANGED,
        Failure.EMPTY_PAGE,
    )


def test_an_empty_agenda_is_told_from_a_page_that_yields_nothing():
    empty = read(
        poet_agenda.AgendaPage,
        "https://south.example/",
        "<p class=none>Geen evenementen gevonden</p>",
        {"items": "entries"},
    )
    silent = read(
        poet_agenda.AgendaPage,
        "https://south.example/",
        f"<p class=none>{'Something quite different stands here. ' * 20}</p>",
        {"items": "entries"},
    )
    assert isinstance(empty, Found)
    assert empty.declared_empty
    assert isinstance(silent, Fail)
    assert silent.failure is Failure.LAYOUT_CHANGED


def test_an_item_s_page_object_is_chosen_by_the_address_and_given_what_it_asks_for():
    body = "<h1>Brass</h1><b class=amount>12.50</b><i data-sku=B-7></i>"
    found = read(poet_shop.ShopProduct, "https://shop.example/p/7", body, {"page_params": {"currency": "EUR"}})
    assert fields_of(found) == [
        {"title": "Brass", "name": "Brass", "price": "12.50", "currency": "EUR", "sku": "B-7",
         "url": "https://shop.example/p/7"}
    ]  # fmt: skip


def test_no_rule_for_an_address_is_said():
    found = read(poet_shop.ShopProduct, "https://other.example/p/7", "<h1>x</h1>")
    assert isinstance(found, Fail)
    assert "no rule of @handle_urls" in found.detail


def test_a_page_object_may_need_the_item_of_another():
    body = '<script id=state type="application/json">{"product": {"title": "Case", "price": 9.5}}</script>'
    found = read(poet_embedded.ListedProductPage, "https://data.example/p", body)
    assert [(one["title"], one["price"]) for one in fields_of(found)] == [("Case", 9.5)]


def test_a_crash_of_a_page_object_is_not_hidden():
    body = '<script id=state type="application/json">{}</script>'
    with pytest.raises(KeyError):
        read(poet_embedded.ListedProductPage, "https://data.example/p", body)


def test_a_page_object_for_a_browser_says_so():
    assert TABLE["poet:rig.foreign.poet_embedded:RenderedPage"].needs_browser
    assert not TABLE["poet:rig.foreign.poet_agenda:AgendaPage"].needs_browser


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("poet:rig.foreign.poet_embedded:AskingPage", "an adapter never fetches"),
        ("poet:rig.foreign.poet_embedded:Missing", "there is no class Missing"),
        ("poet:rig.foreign.nowhere:Page", "cannot be imported"),
        ("poet:os:PathLike", "a module of Python itself"),
        ("poet:rig.foreign.poet_embedded", "write poet:package.module:ClassName"),
        ("poet:rig.clock:SettableClock", "neither a page object"),
    ],
)
def test_code_that_cannot_be_an_adapter_is_refused_with_words(name, words):
    assert name not in TABLE
    assert words in TABLE.problem_with(name)


def test_a_name_without_a_scheme_is_left_to_the_list_of_adapters():
    assert TABLE.problem_with("events.generic") == ""
    assert list(TABLE) == []


def test_the_version_follows_the_code():
    version = TABLE["poet:rig.foreign.poet_agenda:AgendaPage"].version
    assert version.startswith("0.0.0+")
    assert version != TABLE["poet:rig.foreign.poet_embedded:ScriptPage"].version
