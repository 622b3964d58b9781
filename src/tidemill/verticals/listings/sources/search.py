"""Adapters for search pages: any site's result cards, and sites made like apartments.com."""

from collections.abc import Mapping
from typing import Any

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, Reading
from tidemill.core.vertical import Context
from tidemill.reading import Document, blocked, declares_empty
from tidemill.verticals.listings.reading import read_listings
from tidemill.verticals.listings.reading.emptiness import declares_no_homes


class Search:
    """Reads any page of search results; settings of the source: `selectors`, as for any adapter that takes them."""

    id = "listings.search"
    version = "1.2.0"
    domain = "*"
    needs_browser = False

    selectors: Mapping[str, Any] = {}

    def read(self, page: Page, context: Context) -> Reading:
        """The homes on the page; a search without results is told from a layout that we do not know."""
        document = Document.of(page)
        selectors = {**self.selectors, **selectors_of(context)}
        found = read_listings(document, selectors)
        return found if found.records else nothing_found(document, selectors, found)


class ApartmentCards(Search):
    """Reads search pages made like apartments.com: a `placard` per property, numbered in `data-listingid`."""

    id = "listings.placards"

    selectors: Mapping[str, Any] = {
        "item": "article.placard, li.mortar-wrapper article, [data-listingid]",
        "id": "@data-listingid",
        "url": ["@data-url", "a.property-link@href", "a@href"],
        "title": [".property-title", ".js-placardTitle", "[class*=title]"],
        "address": [".property-address", "[class*=address]"],
        "rent": [".property-pricing", ".property-rents", "[class*=price]", "[class*=rent]"],
        "beds": [".property-beds", ".bed-range", "[class*=beds]"],
        "baths": [".property-baths", "[class*=bath]", ".property-beds"],
        "size": [".property-size", "[class*=sqft]"],
        "available": [".property-availability", "[class*=availab]"],
        "amenities": [".property-amenities", "[class*=amenities]"],
        "image": ["img@src", "img@data-src"],
        "total": ".searchResults .count, #searchResultsCount, .resultsCount",
    }


def nothing_found(document: Document, selectors: Mapping[str, Any], found: Found) -> Reading:
    """Why a page yielded nothing: it is blocked, it says that nothing is for rent, or its layout is new to us."""
    if refusal := blocked(document):
        return refusal
    if words := declares_empty(document, str(selectors.get("empty", ""))) or declares_no_homes(document):
        notes = (*found.notes, f"the page says: {words}")
        return Found(records=(), declared_empty=True, truncated=found.truncated, notes=notes)
    said = "; ".join(found.notes)
    return Fail(Failure.LAYOUT_CHANGED, f"no listings, and no word that there are none{': ' + said if said else ''}")


def selectors_of(context: Context) -> dict[str, Any]:
    """The source's own selectors; empty when it has none."""
    spec = context.source.adapter_settings.get("selectors")
    return dict(spec) if isinstance(spec, dict) else {}
