"""What the two sites and the actor show, each in its own make."""

from collections.abc import Sequence
from datetime import datetime
from html import escape
from typing import Any

import msgspec

from tidemill.verticals.listings.lab.world import ACTOR, CARDS, PLACARDS, TrueHome

ON_A_PAGE = 15


def search_page(site: str, market: str, homes: Sequence[TrueHome], page: int, now: datetime) -> str:
    """A page of a site's results."""
    return _placards(market, homes, page, now) if site == PLACARDS else _structured(homes, now)


def _placards(market: str, homes: Sequence[TrueHome], page: int, now: datetime) -> str:
    """Placards, numbered, over several pages."""
    first = (page - 1) * ON_A_PAGE
    some = homes[first : first + ON_A_PAGE]
    cards = "".join(_placard(home, now) for home in some)
    more = f'<a rel="next" href="/{market}/?page={page + 1}">Next</a>' if first + len(some) < len(homes) else ""
    none = "" if homes else "<p>No rentals found in this city.</p>"
    total = f"<p>{first + 1}-{first + len(some)} of {len(homes)} rentals</p>" if some else ""
    return f"<html><title>Rentals</title><body><h1>Apartments for rent</h1>{none}{total}{cards}{more}</body></html>"


def _placard(home: TrueHome, now: datetime) -> str:
    link = detail_address(PLACARDS, home)
    rooms = "Studio" if home.beds == 0 else f"{home.beds} Beds"
    return (
        f'<article class="placard" data-listingid="p{home.number}" data-url="{link}">'
        f'<a class="property-link" href="{link}"><span class="property-title">{escape(home.title)}</span></a>'
        f'<div class="property-address">{escape(home.address)}</div>'
        f'<div class="property-pricing">${home.rent(now):,}/mo</div>'
        f'<div class="property-beds">{rooms}, {home.baths:g} Baths</div>'
        f'<div class="property-size">{home.size} sq ft</div></article>'
    )


def _structured(homes: Sequence[TrueHome], now: datetime) -> str:
    """A list in JSON-LD, all on one page."""
    items = [
        {
            "@type": "Apartment",
            "name": home.title,
            "identifier": f"c{home.number}",
            "url": detail_address(CARDS, home),
            "address": {
                "@type": "PostalAddress",
                "streetAddress": f"{home.street}, #{home.unit}",
                "addressLocality": home.city,
                "addressRegion": home.state,
                "postalCode": home.postal_code,
            },
            "numberOfBedrooms": home.beds,
            "numberOfBathroomsTotal": home.baths,
            "floorSize": {"@type": "QuantitativeValue", "value": home.size, "unitCode": "FTK"},
            "geo": {"@type": "GeoCoordinates", "latitude": home.latitude, "longitude": home.longitude},
            "image": [f"https://{CARDS}/photo/{home.number}.jpg"],
            "offers": {"@type": "Offer", "price": home.rent(now), "priceCurrency": "USD"},
        }
        for home in homes
    ]
    data = msgspec.json.encode({"@context": "https://schema.org", "@graph": items}).decode()
    words = f"<p>1-{len(homes)} of {len(homes)} homes</p>" if homes else "<p>No homes found right now.</p>"
    return f'<html><body><h1>Homes</h1>{words}<script type="application/ld+json">{data}</script></body></html>'


def detail_address(site: str, home: TrueHome) -> str:
    """Where a site shows one home."""
    return f"https://{site}/home/{home.number}"


def detail_page(site: str, home: TrueHome, now: datetime) -> tuple[int, str]:
    """A home's own page: there, or gone in the site's own way."""
    if home.is_there(now):
        title, place = escape(home.title), escape(home.address)
        words = f"<h1>{title}</h1><p>{place}</p><p>${home.rent(now):,} a month, available now.</p>"
        return 200, f"<html><title>{title}</title><body>{words}</body></html>"
    if site == CARDS:
        return (
            200,
            "<html><body><h1>This listing is no longer available</h1><p>See other homes nearby.</p></body></html>",
        )
    return 404, "<html><body><h1>Not found</h1></body></html>"


def item_of(home: TrueHome, now: datetime) -> dict[str, Any]:
    """A home as the actor emits it, in one of three shapes."""
    url, rent = detail_address(ACTOR, home), home.rent(now)
    match home.number % 3:
        case 0:
            return {
                "id": f"a{home.number}", "url": url, "propertyName": home.title, "rent": {"min": rent, "max": rent},
                "beds": home.beds, "baths": home.baths, "sqft": home.size,
                "address": {"streetAddress": f"{home.street} Unit {home.unit}", "city": home.city, "state": home.state,
                            "postalCode": home.postal_code},
                "coordinates": {"latitude": home.latitude, "longitude": home.longitude},
            }  # fmt: skip
        case 1:
            return {
                "listingId": f"a{home.number}", "detailUrl": url, "title": home.title, "price": f"${rent:,}/mo",
                "bedrooms": home.beds, "bathrooms": home.baths, "squareFeet": home.size,
                "location": {"fullAddress": home.address, "lat": home.latitude, "lng": home.longitude},
            }  # fmt: skip
        case _:
            return {
                "zpid": f"a{home.number}", "hdpUrl": url, "name": home.title, "rentMin": rent, "rentMax": rent,
                "beds": str(home.beds), "baths": str(home.baths), "area": home.size, "streetAddress": home.street,
                "unitNumber": home.unit, "addressCity": home.city, "addressState": home.state,
                "zipcode": home.postal_code,
            }  # fmt: skip
