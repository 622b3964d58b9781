"""What the framework alone works out: keys, derived values, and what ammunition is made of."""

import re
from datetime import UTC, datetime

import msgspec
import pytest

from tidemill.core.policy import MONITOR
from tidemill.core.record import RawRecord, Strategy
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted, Quarantined
from tidemill.core.vertical import Context
from tidemill.verticals.prices.ammunition import Ammunition, ammunition_in
from tidemill.verticals.prices.definition import PRICES
from tidemill.verticals.prices.raw_fields import RawOffer
from tidemill.verticals.prices.reasons import QuarantineReason
from tidemill.verticals.prices.record import Offer
from tidemill.verticals.prices.rules import CONFIDENCE_FLOOR, cost_per_round, identity_key

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
SOURCE = Source(id=3, name="Shop", vertical="prices", base_url="https://www.shop.example/", adapter_id="prices.generic")
CONTEXT = Context(SOURCE, "https://www.Shop.example/p/9mm/?utm_source=x#top", NOON)
SAID = {
    "title": "50 Rounds - 9mm Luger 115 Grain FMJ Brass Case by Federal", "price": "14.95", "currency": "USD",
    "availability": "IN_STOCK", "sku": "AE9DP", "gtin": "029465094508", "list_price": "19.95",
    "adapter": "prices.generic@1.0.0",
}  # fmt: skip


def offer(**changed: str) -> Offer:
    record = RawRecord(fields={**SAID, **changed}, strategy=Strategy.JSONLD, confidence=0.9, origin="json-ld/0")
    verdict = PRICES.judge(record, CONTEXT)
    assert isinstance(verdict, Accepted), verdict
    assert verdict.identity == verdict.record.identity_key
    assert isinstance(verdict.record, Offer)
    return verdict.record


@pytest.mark.shows("C1")
def test_an_offer_has_all_that_its_page_and_its_title_say() -> None:
    found = offer()
    assert (found.price_cents, found.currency, found.list_price_cents) == (1495, "USD", 1995)
    assert (found.caliber, found.grain_weight, found.round_count) == ("9mm Luger", 115, 50)
    assert (found.case_material, found.bullet_type, found.cost_per_round_cents) == ("Brass", "FMJ", 29.9)
    assert (found.retailer, found.upc) == ("shop.example", "029465094508")
    assert found.url == "https://www.shop.example/p/9mm/?utm_source=x#top", "as the site gives it"
    assert found.observed_at == NOON
    assert found.adapter_version == "prices.generic@1.0.0"


def test_an_offer_comes_back_from_its_stored_form() -> None:
    found = offer()
    assert PRICES.decode_record(msgspec.json.encode(found)) == found


@pytest.mark.shows("C1")
def test_a_products_own_id_goes_before_its_sku_and_its_sku_before_its_address() -> None:
    assert identity_key("77", "A1", "https://x/") == "PID:77"
    assert identity_key("", "A1", "https://x/") == "SKU:A1"
    assert re.fullmatch(r"URL:[0-9a-f]{16}", identity_key("", "", "https://x/"))


@pytest.mark.shows("C1")
@pytest.mark.parametrize("bad", ["a:b", "x" * 256, " "])
def test_a_value_that_no_key_may_have_is_passed_over(bad: str) -> None:
    assert identity_key(bad, "A1", "https://x/") == "SKU:A1"


@pytest.mark.shows("C1")
def test_the_same_page_is_the_same_product_whatever_its_price() -> None:
    assert offer(price="9.99", sku="").identity_key == offer(sku="").identity_key


def test_a_list_price_under_the_price_is_none() -> None:
    assert offer(list_price="9.95").list_price_cents is None


def test_an_identifier_with_a_wrong_check_digit_is_left_out() -> None:
    assert offer(gtin="029465094509").upc is None


@pytest.mark.shows("C1")
def test_the_cost_of_a_round_is_worked_out_and_never_read() -> None:
    assert cost_per_round(1495, 50) == 29.9
    assert cost_per_round(1495, None) is None


def test_prices_are_watched_by_the_monitor_preset() -> None:
    assert PRICES.policy is MONITOR
    assert PRICES.policy.needs_approval


def test_every_adapter_has_a_domain_of_its_own() -> None:
    domains = [adapter.domain for adapter in PRICES.adapters.values() if adapter.domain != "*"]
    assert len(set(domains)) == len(domains)
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", adapter.version) for adapter in PRICES.adapters.values())


@pytest.mark.shows("C1")
@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ('12 Gauge 2-3/4" 00 Buck 5 rds', Ammunition(caliber="12 Gauge", round_count=5, load_type="00 Buck",
                                                     shell_length='2-3/4"')),
        ("20 Ga 3 inch #4 Steel 25 shells", Ammunition(caliber="20 Gauge", round_count=25, load_type="#4 Shot",
                                                       shell_length='3"')),
        ("5.56x45 62gr FMJ 420 rounds can", Ammunition(caliber="5.56 NATO", grain_weight=62, round_count=420,
                                                       bullet_type="FMJ")),
        (".223 Rem 55gr (20 boxes of 50)", Ammunition(caliber=".223 Remington", grain_weight=55, round_count=1000)),
        ("7.62x39 123 gr HP steel case 20 rounds", Ammunition(caliber="7.62x39", grain_weight=123, round_count=20,
                                                             case_material="Steel", bullet_type="HP")),
        ("T-shirt with 50 rounds printed on it", Ammunition()),
    ],
)  # fmt: skip
def test_a_title_tells_what_ammunition_is_made_of(title: str, expected: Ammunition) -> None:
    assert ammunition_in(title, RawOffer()) == expected


def test_a_table_goes_before_the_title() -> None:
    found = ammunition_in("Federal 9mm", RawOffer(caliber="9mm Luger", rounds="50", grain="124", bullet_type="JHP"))
    assert (found.round_count, found.grain_weight, found.bullet_type) == (50, 124, "JHP")


@pytest.mark.shows("S2b")
def test_readers_see_the_address_as_the_site_gives_it_and_never_a_password() -> None:
    plain = "http://www.shop.example/p/9mm"
    with_user = plain.replace("//", "//" + "ans:x" + "@")
    assert offer(url=plain).url == plain
    assert offer(url=with_user).url == plain
    keys = {
        offer(url=each, product_id="", sku="").identity_key
        for each in (plain, with_user, plain.replace("http", "https"))
    }
    assert len(keys) == 1


def test_a_price_read_below_the_floor_is_set_aside_with_its_product() -> None:
    confidence = CONFIDENCE_FLOOR - 0.05
    record = RawRecord(fields=SAID, strategy=Strategy.HEURISTICS, confidence=confidence, origin="shown")
    verdict = PRICES.judge(record, CONTEXT)
    assert isinstance(verdict, Quarantined)
    assert (verdict.reason, verdict.subject) == (QuarantineReason.VALIDATION_FAILED, "SKU:AE9DP")
