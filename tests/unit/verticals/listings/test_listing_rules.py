"""A raw listing becomes a listing, or a reason; the price is never its identity."""

from datetime import UTC, date, datetime

import msgspec
import pytest

from tidemill.core.record import RawRecord, Strategy
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted, Dropped, Quarantined
from tidemill.core.vertical import Context
from tidemill.verticals.listings.addresses import read_address
from tidemill.verticals.listings.definition import LISTINGS
from tidemill.verticals.listings.market import SEEDED, Market, market_problems
from tidemill.verticals.listings.policy import DECAY
from tidemill.verticals.listings.record import Listing, RentBasis
from tidemill.verticals.listings.store.markets import targets_of

SOURCE = Source(
    id=1, name="homes", vertical="listings", base_url="https://homes.example", adapter_id="listings.search",
    time_zone="America/New_York", language="en",
)  # fmt: skip
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
CONTEXT = Context(SOURCE, "https://homes.example/ny", NOW, {"market": "nyc", "city": "New York", "state": "NY"})
HOME = {
    "id": "h-1", "url": "https://homes.example/h-1", "title": "The Lofts", "rent": "$2,400/mo", "beds": "2 Beds",
    "address": "350 West 42nd Street Apt. 4-B, New York, NY 10036", "baths": "1.5 Baths", "size": "850 sq ft",
}  # fmt: skip


def raw(**changes: object) -> RawRecord:
    fields = {name: value for name, value in {**HOME, **changes}.items() if value is not None}
    return RawRecord(fields=fields, strategy=Strategy.JSONLD, confidence=0.9, origin="test")


def kept(**changes: object) -> tuple[str, Listing]:
    verdict = LISTINGS.judge(raw(**changes), CONTEXT)
    assert isinstance(verdict, Accepted), verdict
    return verdict.identity, verdict.record


def test_a_listing_is_normalized_field_by_field():
    identity, home = kept(available="Available Dec 1", amenities=["Pool", "Gym"], latitude="40.75", longitude=-73.99)
    assert identity == "ID:h-1"
    assert (home.door, home.unit, home.city, home.state, home.postal_code) == (
        "350 w 42nd st", "4b", "new york", "ny", "10036",
    )  # fmt: skip
    assert (home.rent_low, home.rent_high, home.rent_basis) == (240_000, None, RentBasis.UNIT)
    assert (home.beds_low, home.baths_low, home.size_low) == (2, 1.5, 850)
    assert home.available_on == date(2026, 12, 1)
    assert home.amenities == ("Pool", "Gym")
    assert (home.latitude, home.longitude, home.market_id) == (40.75, -73.99, "nyc")
    assert 0 < home.quality <= 100


@pytest.mark.shows("L4")
def test_the_identity_is_the_sources_id_then_the_door_then_the_address_on_the_web():
    assert kept()[0] == "ID:h-1"
    by_door = kept(id=None)[0]
    assert by_door.startswith("DOOR:")
    assert kept(id=None, address=None, latitude=40.7, longitude=-74.0)[0].startswith("URL:")


@pytest.mark.shows("L4")
def test_the_price_is_never_part_of_the_identity():
    assert kept(id=None, rent="$2,400")[0] == kept(id=None, rent="$9,900")[0]


@pytest.mark.shows("L4")
def test_rooms_and_units_tell_doors_apart():
    assert len({kept(id=None)[0], kept(id=None, beds="3 Beds")[0], kept(id=None, unit="9z")[0]}) == 3


def test_ranges_per_person_and_on_request_are_kept_as_such():
    assert kept(rent="$1,450 - $2,100")[1].rent_high == 210_000
    assert kept(rent="$800 / person")[1].rent_basis is RentBasis.PERSON
    on_request = kept(rent="Call for Rent")[1]
    assert (on_request.rent_low, on_request.rent_basis) == (None, RentBasis.ON_REQUEST)
    assert kept(rent=None)[1].rent_basis is RentBasis.ON_REQUEST


def test_a_card_without_a_city_lies_in_its_market():
    home = kept(address="350 West 42nd Street")[1]
    assert (home.city, home.state) == ("new york", "ny")


@pytest.mark.parametrize(
    ("changes", "kind", "reason"),
    [
        ({"address": None}, Dropped, "MISSING_ADDRESS"),
        ({"title": None, "address": None, "latitude": 40.7, "longitude": -74}, Dropped, "MISSING_TITLE"),
        ({"id": None, "url": None}, Dropped, "MISSING_URL"),
        ({"address": "1 Elm St, Boston, MA 02108"}, Dropped, "OUTSIDE_MARKET"),
        ({"rent": "$2"}, Quarantined, "INVALID_RENT"),
        ({"rent": "$900,000"}, Quarantined, "INVALID_RENT"),
        ({"rent": "12 stars"}, Quarantined, "INVALID_RENT"),
        ({"rent": "1.450 euro"}, Quarantined, "OTHER_CURRENCY"),
        ({"rent": "$120/night"}, Dropped, "SHORT_STAY"),
        ({"kind": "House for sale"}, Dropped, "NOT_FOR_RENT"),
        ({"rent": None, "available": "No longer available"}, Dropped, "NOT_FOR_RENT"),
        ({"unknown_shape": "an item with foo"}, Quarantined, "UNKNOWN_SHAPE"),
    ],
)
def test_every_reason_is_reached(changes: dict[str, object], kind: type, reason: str):
    verdict = LISTINGS.judge(raw(**changes), CONTEXT)
    assert isinstance(verdict, kind)
    assert verdict.reason == reason


@pytest.mark.shows("L4")
@pytest.mark.parametrize(
    "text",
    [
        "350 West 42nd Street Apt. 4-B, New York, NY 10036",
        "350 W. 42nd St #4B, New York NY 10036-1234",
        "350 w 42nd street, unit 4b, New York, NY, 10036, USA",
    ],
)
def test_one_door_has_one_spelling(text: str):
    address = read_address(text)
    assert (address.door, address.unit, address.city, address.postal_code) == (
        "350 w 42nd st", "4b", "new york", "10036",
    )  # fmt: skip


def test_a_city_that_no_comma_parts_off_is_known_from_the_market():
    assert read_address("100 North Charles Street Baltimore MD 21201", city="Baltimore").door == "100 n charles st"


def test_a_name_is_no_door():
    assert not read_address("The Avalon").is_whole


@pytest.mark.parametrize(
    ("line", "told", "door", "state"),
    [
        ("5 Vue Ct", {"state": "NC"}, "5 vue ct", "nc"),
        ("500 H St NE", {"state": "DC"}, "500 h st ne", "dc"),
        ("500 H St NE", {}, "500 h st ne", ""),
        ("500 H St NE, Washington, DC 20002", {}, "500 h st ne", "dc"),
        ("9 Elm St, Stamford, CT", {}, "9 elm st", "ct"),
        ("9 Elm St Stamford CT 06901", {"city": "Stamford"}, "9 elm st", "ct"),
    ],
)
def test_a_court_and_a_direction_are_no_state(line, told, door, state):
    address = read_address(line, **told)
    assert (address.door, address.state) == (door, state)


BOSTON = next(market for market in SEEDED if market.id == "boston")
BERLIN = Market(id="berlin", display_name="Berlin", city="Berlin", state="", country="DE", currency="EUR")


def judged_in(market: Market, **changes: object) -> Accepted | Dropped | Quarantined:
    return LISTINGS.judge(raw(**changes), Context(SOURCE, "https://homes.example/", NOW, market.parameters))


@pytest.mark.shows("L1b")
@pytest.mark.parametrize(
    ("address", "is_there"),
    [
        ("12 Beacon St, Boston, MA 02108", True), ("9 Centre St, Jamaica Plain, MA", True), ("12 Beacon St", True),
        ("45 Main St, Worcester, MA 01608", False), ("45 Main St, Worcester, MA", False),
    ],
)  # fmt: skip
def test_a_home_of_another_town_is_not_the_markets(address: str, *, is_there: bool) -> None:
    verdict = judged_in(BOSTON, address=address)
    assert isinstance(verdict, Accepted) is is_there
    assert is_there or (isinstance(verdict, Dropped) and verdict.reason == "OUTSIDE_MARKET")


@pytest.mark.shows("L1b")
def test_a_rent_in_another_currency_than_the_markets_waits_for_a_person() -> None:
    verdict = judged_in(BOSTON, address="12 Beacon St, Boston, MA 02108", rent="\u20ac2,400/mo")
    assert isinstance(verdict, Quarantined)
    assert verdict.reason == "OTHER_CURRENCY"


@pytest.mark.shows("L1b")
def test_a_market_of_another_country_has_its_own_addresses_and_currency() -> None:
    verdict = judged_in(BERLIN, address="Hauptstra\u00dfe 12a, 10115 Berlin", rent="1.450 warm")
    assert isinstance(verdict, Accepted), verdict
    home = verdict.record
    assert (home.door, home.city, home.postal_code) == ("12a hauptstrasse", "berlin", "10115")
    assert (home.rent_low, home.currency, home.state) == (145_000, "EUR", "")
    assert home.address_key


@pytest.mark.shows("L1b")
@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("Keizersgracht 12, 1015 CJ Amsterdam", ("12 keizersgracht", "amsterdam", "1015cj")),
        ("12 rue de Rivoli, 75001 Paris", ("12 rue de rivoli", "paris", "75001")),
        ("Flat 3, 12 High Street, Leeds LS1 4AB", ("12 high st", "leeds", "ls14ab")),
        ("Calle de Alcal\u00e1 45, 28014 Madrid, Spain", ("45 calle de alcal\u00e1", "madrid", "28014")),
        ("350 West 42nd Street, New York, NY 10036", ("350 w 42nd st", "new york", "10036")),
    ],
)  # fmt: skip
def test_an_address_is_read_in_the_form_of_its_country(written: str, parts: tuple[str, str, str]) -> None:
    address = read_address(written)
    assert (address.door, address.city, address.postal_code) == parts


@pytest.mark.shows("L1b")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"country": "Germany"}, "two letters of a country"), ({"currency": "EURO"}, "currency"),
        ({"country": "US"}, "two letters of a state"), ({"area": ("",)}, "area"),
    ],
)  # fmt: skip
def test_a_market_that_cannot_be_meant_is_refused_in_words(change: dict[str, object], words: str) -> None:
    assert market_problems(BERLIN, DECAY) == []
    assert words in "; ".join(market_problems(msgspec.structs.replace(BERLIN, **change), DECAY))


@pytest.mark.shows("L1b")
def test_a_source_gets_the_markets_that_it_is_told() -> None:
    template = {"market_url": "https://homes.example/{market}"}
    told = msgspec.structs.replace(SOURCE, adapter_settings={**template, "markets": ["boston", "dc"]})
    every = msgspec.structs.replace(SOURCE, adapter_settings={**template, "markets": "all"})
    assert [target.scope for target in targets_of(told, SEEDED)] == ["boston", "dc"]
    assert len(targets_of(every, [*SEEDED, BERLIN])) == 20
