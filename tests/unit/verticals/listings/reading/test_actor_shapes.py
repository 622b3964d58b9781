"""What actors emit is read by what its names mean; what they do not mean is left alone, and unknown shapes say so."""

import json

import pytest

from tidemill.verticals.listings.reading import read_dataset

HOME = {"id": "h1", "url": "https://homes.example/h1", "address": "12 Elm St, Boston, MA 02118"}


def fields(item, base="https://homes.example"):
    (record,) = read_dataset(json.dumps([item]).encode(), base)
    return record.fields


@pytest.mark.parametrize(
    ("said", "rent"),
    [
        ({"min_price": 2895, "max_price": 4100}, "2895 - 4100"),
        ({"list_price_min": 2100, "list_price": None}, "2100"),
        ({"rent": {"min": 2000, "max": 2000}}, "2000"),
        ({"price": {"from": 1500, "to": 1900}}, "1500 - 1900"),
        ({"price": {"formattedPrice": "$2,600/mo"}}, "$2,600/mo"),
        ({"price": {"amount": 300, "frequency": "weekly", "currencyCode": "GBP"}}, "300 weekly"),
        ({"rent": {"amount": 300, "period": "week"}}, "300 per week"),
        ({"pricePerMonth": 1800}, "1800"),
        ({"priceRange": "$1,450 - $2,975"}, "$1,450 - $2,975"),
        ({"listing": {"price": 1700}}, "1700"),
        ({"listingMinRent": 1200, "listingMaxRent": 1900}, "1200 - 1900"),
        ({"pricing": {"monthly": 2700}}, "2700"),
    ],
)
def test_a_rent_is_known_by_the_words_of_its_name(said, rent):
    assert fields(HOME | said)["rent"] == rent


@pytest.mark.parametrize(
    "name",
    ["previousPrice", "pricePerSqft", "rentZestimate", "priceReduced", "deposit", "applicationFee", "petRent"],
)  # fmt: skip
def test_what_only_sounds_like_a_rent_is_none(name):
    assert "rent" not in fields(HOME | {name: 2400})


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"min_bedrooms": 1, "max_bedrooms": 3}, {"beds": "1 - 3"}),
        ({"bedrooms": {"formattedValue": "2bd"}}, {"beds": "2bd"}),
        ({"description": {"baths_min": 1, "baths_max": 2, "sqft_min": 600}}, {"baths": "1 - 2", "size": "600"}),
        ({"floorSpace": {"formattedDimension": "900 sqft"}}, {"size": "900 sqft"}),
        ({"size": {"value": 75, "unit": "m²"}}, {"size": "75 m²"}),
        ({"housing": "2br - 900ft2"}, {"beds": "2br - 900ft2", "size": "2br - 900ft2"}),
    ],
)
def test_rooms_and_size_come_in_many_shapes(said, told):
    assert told.items() <= fields(HOME | said).items()


@pytest.mark.parametrize(
    "said",
    [
        {"coordinates": "42.34, -71.07"},
        {"geometry": {"type": "Point", "coordinates": [-71.07, 42.34]}},
        {"geo": {"lat": 42.34, "lon": -71.07}},
        {"mapLocation": {"lat": 42.34, "lng": -71.07}},
        {"location": {"coordinates": {"latitude": 42.34, "longitude": -71.07}}},
    ],
)
def test_coordinates_are_found_in_every_spelling(said):
    found = fields(HOME | said)
    assert (float(found["latitude"]), float(found["longitude"])) == (42.34, -71.07)


def test_a_pair_of_numbers_in_no_known_order_is_no_place():
    assert "latitude" not in fields(HOME | {"coordinates": [42.34, -71.07]})


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"address": {"addressLine1": "12 Elm St", "addressLine2": "Apt 3"}}, {"unit": "Apt 3"}),
        ({"address": {"street_name": "Bergweg", "house_number": "12"}}, {"address": "12 Bergweg"}),
        ({"address": None, "node": {"address": {"line1": "9 Dock St"}}}, {"address": "9 Dock St"}),
        ({"address": None, "displayAddress": "Camden High Street, London"}, {"address": "Camden High Street, London"}),
        ({"address": None, "location": "Somerville"}, {"neighborhood": "Somerville"}),
        ({"address": None, "location": "12 Elm St, Boston"}, {"address": "12 Elm St, Boston"}),
        ({"address": None, "property": {"address": {"streetAddress": "26 Elm St"}}}, {"address": "26 Elm St"}),
    ],
)  # fmt: skip
def test_an_address_is_one_line_or_its_parts(said, told):
    assert told.items() <= fields(HOME | said).items()


@pytest.mark.parametrize(
    "plans",
    [
        {"floorPlans": [{"beds": 1, "price": {"min": 2000, "max": 2200}, "sqft": {"min": 600, "max": 650}},
                        {"beds": 2, "price": {"min": 2800, "max": 3100}, "sqft": {"min": 900, "max": 1000}}]},
        {"models": [{"rentLabel": "$2,000 - $2,200", "details": ["1 Bed", "1 Bath", "600 - 650 sq ft"]},
                    {"rentLabel": "$2,800 - $3,100", "details": ["2 Beds", "1 Bath", "900 - 1,000 sq ft"]}]},
        {"units": [{"price": "$2,000+", "beds": "1", "sqft": "600"},
                   {"price": "$3,100", "beds": "2", "sqft": "1,000"}]},
        {"models": [{"beds": 1, "sqft": 600, "units": [{"price": 2000, "beds": 1, "sqft": 600}]},
                    {"beds": 2, "sqft": 1000, "units": [{"price": 3100, "beds": 2, "sqft": 1000}]}]},
    ],
)  # fmt: skip
def test_a_building_tells_the_range_over_its_floor_plans(plans):
    found = fields(HOME | plans)
    assert (found["rent"], found["beds"], found["size"]) == ("2000 - 3100", "1 - 2", "600 - 1000 sqft")


def test_what_a_building_says_itself_goes_before_its_floor_plans():
    assert fields(HOME | {"rent": "Call for Rent", "units": [{"price": 2000, "beds": 1}]})["rent"] == "Call for Rent"


def test_pictures_and_amenities_are_texts_objects_or_groups():
    found = fields(HOME | {
        "photos": [{"mixedSources": {"jpeg": [{"url": "https://p.example/1.jpg"}, {"url": "https://p.example/1b.jpg"}]}},
                   {"href": "https://p.example/2.jpg"}],
        "amenities": [{"title": "Community", "value": ["Pool", "Gym"]}, {"name": "Dishwasher"}, "Parking"],
    })  # fmt: skip
    assert found["images"] == ["https://p.example/1.jpg", "https://p.example/2.jpg"]
    assert found["amenities"] == ["Pool", "Gym", "Dishwasher", "Parking"]


def test_a_link_without_its_origin_is_one_of_the_site():
    item = HOME | {"url": None, "hdpUrl": "/homedetails/9_zpid/"}
    assert fields(item, "https://homes.example/rentals")["url"] == "https://homes.example/homedetails/9_zpid/"


@pytest.mark.parametrize(
    "item",
    [{"foo": 1}, {"#error": True, "#debug": {"url": "https://x.test/9"}}, {"url": "https://x.test/9", "error": "404"}],
)  # fmt: skip
def test_an_item_that_tells_no_home_is_set_aside(item):
    assert "unknown_shape" in fields(item)
