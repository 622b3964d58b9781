"""One home is one listing, whoever shows it, and two homes stay two."""

import msgspec
import pytest

from tidemill.verticals.listings import dedupe
from tidemill.verticals.listings.dedupe import KnownListing, deduplicate, likeness, merged
from tidemill.verticals.listings.record import Listing, RentBasis

pytestmark = pytest.mark.shows("L4")

HOME = Listing(
    title="The Lofts", url="https://homes.example/1", own_id="1", address="350 W 42nd St #4B", door="350 w 42nd st",
    unit="4b", city="new york", state="ny", postal_code="10036", neighborhood="", rent_low=240_000, rent_high=None,
    rent_basis=RentBasis.UNIT, currency="USD", beds_low=2.0, beds_high=2.0, baths_low=1.0, baths_high=1.0,
    size_low=850, size_high=850, available_on=None, available_text="", kind="", amenities=(), description="",
    images=(), latitude=40.7581, longitude=-73.9920, market_id="nyc", source_id=1, source_name="homes",
    confidence=0.9, quality=0,
)  # fmt: skip


def home(**changes: object) -> Listing:
    return msgspec.structs.replace(HOME, **changes)


def test_a_home_seen_again_under_its_own_id_is_an_update_whatever_its_price():
    found = deduplicate([home(rent_low=199_900)], [KnownListing(7, HOME)])
    assert (found.new, found.skipped) == ([], [])
    assert [key for key, _ in found.updates] == [7]


def test_another_source_shows_the_same_door():
    theirs = home(source_id=2, own_id="zz", title="Luxury 2BR", rent_low=250_000)
    assert [key for key, _ in deduplicate([theirs], [KnownListing(7, HOME)]).updates] == [7]


def test_a_slip_of_the_pen_in_the_street_is_the_same_home():
    theirs = home(source_id=2, own_id="zz", door="350 w 42nd str", postal_code="")
    assert likeness(theirs, HOME) >= dedupe.ALIKE
    assert [key for key, _ in deduplicate([theirs], [KnownListing(7, HOME)]).updates] == [7]


def test_another_unit_other_rooms_or_another_number_are_other_homes():
    for changes in ({"unit": "5c"}, {"beds_low": 3.0}, {"baths_low": 2.0}, {"door": "352 w 42nd st"}):
        theirs = home(source_id=2, own_id="zz", **changes)
        assert deduplicate([theirs], [KnownListing(7, HOME)]).new == [theirs], changes


def test_what_a_source_itself_tells_apart_stays_apart():
    twin = home(own_id="2", unit="")
    assert deduplicate([twin], [KnownListing(7, home(unit=""))]).new == [twin]


def test_of_several_like_flats_behind_one_door_nobody_can_say_which_it_is():
    repository = [KnownListing(1, home(own_id="1", unit="")), KnownListing(2, home(own_id="2", unit=""))]
    theirs = home(source_id=2, own_id="zz", unit="", latitude=None, longitude=None)
    assert deduplicate([theirs], repository).new == [theirs]


def test_a_batch_that_shows_a_home_twice_keeps_the_richer_and_counts_the_other():
    poor = home(size_low=None, size_high=None, images=())
    rich = home(own_id="", source_id=2, images=("https://homes.example/1.jpg",))
    found = deduplicate([poor, rich], [])
    assert len(found.new) == 1
    assert len(found.skipped) == 1
    assert found.new[0].images == rich.images
    assert found.new[0].size_low == 850


def test_merging_fills_gaps_and_never_mixes_rents():
    one = home(rent_low=None, rent_basis=RentBasis.ON_REQUEST, description="A fine home " * 10, images=("a", "b", "c"))
    other = home(rent_low=200_000, size_low=None, latitude=None, longitude=None)
    best = merged(one, other)
    assert best.rent_low in {None, 200_000}
    assert best.description
    assert best.size_low == 850


def test_a_hundred_thousand_listings_are_deduplicated_without_comparing_all_pairs(monkeypatch):
    compared = 0
    honest = dedupe.likeness

    def counting(one: Listing, other: Listing) -> float:
        nonlocal compared
        compared += 1
        return honest(one, other)

    monkeypatch.setattr(dedupe, "likeness", counting)
    many = 20_000
    repository = [
        KnownListing(n, home(own_id=str(n), door=f"{n % 900 + 1} {n // 900} st", latitude=None)) for n in range(many)
    ]
    again = [home(own_id="", source_id=2, door=one.listing.door, latitude=None) for one in repository]
    found = deduplicate(again, repository)
    assert len(found.updates) == many
    assert compared <= many
