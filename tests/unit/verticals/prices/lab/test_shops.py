"""The lab's shops: what they say is true, what goes wrong with them goes wrong as it should."""

from datetime import datetime, timedelta

import msgspec
import pytest

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted, Dropped, Quarantined, Verdict
from tidemill.core.vertical import Context
from tidemill.lab.faults import BlockPage, Fault, Redesign, ScheduledFault, Timetable
from tidemill.lab.messages import LabRequest
from tidemill.lab.world import EPOCH, World
from tidemill.reading import Availability
from tidemill.verticals.prices.definition import PRICES
from tidemill.verticals.prices.lab.faults import CurrencyFlip, RedirectsToList
from tidemill.verticals.prices.lab.group import shop_world
from tidemill.verticals.prices.lab.shop import LISTING, Shop, build_shops, truth
from tidemill.verticals.prices.reasons import DropReason, ExtractReason, QuarantineReason, reason_of

SHOPS = tuple(build_shops(7, 3, EPOCH))
WORLD = shop_world(SHOPS)
SOURCES = {each["base_url"]: each for each in WORLD.sources()}

pytestmark = pytest.mark.shows("X5")


def visit(shop: Shop, path: str, moment: datetime, world: World = WORLD) -> Verdict | Fail:
    """What becomes of a product page: its redirect followed, read by the shop's adapter, and judged."""
    described = SOURCES[shop.origin]
    answer = world.respond(LabRequest(shop.host, path), moment)
    final = shop.origin + path
    if answer.status == 302:
        final = shop.origin + answer.headers["location"]
        answer = world.respond(LabRequest(shop.host, LISTING), moment)
    page = Page(
        id=1, url=shop.origin + path, final_url=final, status_code=200, body=answer.body, charset="utf-8",
        content_type="text/html", digest=1, fetched_at=moment,
    )  # fmt: skip
    source = Source(
        id=1, name=described["name"], vertical="prices", base_url=shop.origin, adapter_id=described["adapter"],
        adapter_settings=described["settings"],
    )  # fmt: skip
    context = Context(source, final, moment)
    reading = PRICES.adapters[source.adapter_id].read(page, context)
    return PRICES.judge(reading.records[0], context) if isinstance(reading, Found) else reading


def ailing(shop: Shop, fault: Fault) -> World:
    scheduled = ScheduledFault(host=shop.host, kind="ailing", fault=fault, begins=EPOCH)
    return shop_world(SHOPS, Timetable([scheduled]))


@pytest.mark.shows("C7")
@pytest.mark.parametrize("shop", SHOPS, ids=lambda shop: shop.make)
def test_a_shop_is_read_exactly_and_nine_in_ten_of_its_pages_give_an_offer(shop: Shop) -> None:
    kept = 0
    for day in (0, 1.3, 3.7):
        moment = EPOCH + timedelta(days=day)
        true = {offer.url: offer for offer in truth(shop, moment)}
        for path in shop.paths:
            verdict = visit(shop, path, moment)
            if isinstance(verdict, Accepted):
                offer, told = verdict.record, true[shop.origin + path]
                assert (offer.price_cents, offer.currency, offer.title) == (told.price_cents, told.currency, told.title)
                assert (offer.availability is Availability.IN_STOCK) == told.in_stock
                kept += 1
    assert kept > 0.9 * 3 * len(shop.paths)


@pytest.mark.parametrize("shop", SHOPS, ids=lambda shop: shop.make)
def test_prices_move_and_sales_come_and_go(shop: Shop) -> None:
    states = [shop.state(shop.goods[0], EPOCH + timedelta(hours=hours)) for hours in range(0, 24 * 30, 12)]
    assert len({state.price_cents for state in states}) > 5
    assert any(state.list_price_cents for state in states)


@pytest.mark.parametrize("shop", SHOPS, ids=lambda shop: shop.make)
def test_what_is_sold_out_hides_its_price_and_harms_nobody(shop: Shop) -> None:
    shy = next(goods for goods in shop.goods if goods.hides_price)
    hours = next(hours for hours in range(0, 500, 3) if not shop.state(shy, EPOCH + timedelta(hours=hours)).in_stock)
    verdict = visit(shop, shop.path_of(shy), EPOCH + timedelta(hours=hours))
    assert isinstance(verdict, Dropped)
    assert verdict.reason == DropReason.OOS_NO_PRICE
    assert verdict.harmless


@pytest.mark.shows("B13")
@pytest.mark.parametrize("shop", SHOPS, ids=lambda shop: shop.make)
@pytest.mark.parametrize("fault", [None, RedirectsToList()], ids=["discontinued", "fault"])
def test_an_address_that_leads_to_the_list_is_a_changed_structure(shop: Shop, fault: Fault | None) -> None:
    leaving = next(goods for goods in shop.goods if goods.leaves)
    world = WORLD if fault is None else ailing(shop, fault)
    failed = visit(shop, shop.path_of(leaving), EPOCH + timedelta(days=20), world)
    assert isinstance(failed, Fail)
    assert reason_of(failed.failure, failed.detail) is ExtractReason.PAGE_STRUCTURE_CHANGED


@pytest.mark.parametrize("shop", SHOPS, ids=lambda shop: shop.make)
def test_a_flipped_currency_is_set_aside(shop: Shop) -> None:
    verdict = visit(shop, shop.paths[0], EPOCH, ailing(shop, CurrencyFlip()))
    assert isinstance(verdict, Quarantined)
    assert verdict.reason == QuarantineReason.VALIDATION_FAILED


@pytest.mark.parametrize("shop", SHOPS, ids=lambda shop: shop.make)
def test_a_captcha_is_a_blocked_page(shop: Shop) -> None:
    failed = visit(shop, shop.paths[0], EPOCH, ailing(shop, BlockPage()))
    assert isinstance(failed, Fail)
    assert failed.failure is Failure.BLOCKED_PAGE


@pytest.mark.parametrize("shop", SHOPS[:2], ids=lambda shop: shop.make)
def test_a_redesign_leaves_the_shops_own_adapter_without_an_offer(shop: Shop) -> None:
    for path in shop.paths:
        assert isinstance(visit(shop, path, EPOCH, ailing(shop, Redesign())), Fail)


def test_shops_are_the_same_for_the_same_seed() -> None:
    assert build_shops(7, 3, EPOCH) == build_shops(7, 3, EPOCH)
    assert build_shops(7, 3, EPOCH) != build_shops(8, 3, EPOCH)


def test_shops_move_with_the_world() -> None:
    moved = WORLD.moved_to({shop.host: f"http://127.0.0.9:80{number}" for number, shop in enumerate(SHOPS)})
    assert list(moved.origins.values()) == [f"http://127.0.0.9:80{number}" for number in range(3)]
    assert msgspec.json.encode(moved.sources())
