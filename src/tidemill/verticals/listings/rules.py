"""The judgement of a listing: what it must tell, and what it becomes."""

import re
from collections.abc import Mapping
from datetime import date

import msgspec

from tidemill.core.identity import fingerprint, normalized
from tidemill.core.record import RawRecord
from tidemill.core.urls import BadUrl, canonicalize
from tidemill.core.verdict import Accepted, Dropped, Quarantined, Verdict
from tidemill.core.vertical import Context
from tidemill.reading.moments import parse_moment
from tidemill.verticals.listings.addresses import PostalAddress, read_address
from tidemill.verticals.listings.market import AREA_ENDS
from tidemill.verticals.listings.quality import quality
from tidemill.verticals.listings.raw_fields import RawListing, text_fields
from tidemill.verticals.listings.reading.rent import Period, Rent, parse_rent
from tidemill.verticals.listings.reading.rent_currencies import UNITS_OF_A_DOLLAR
from tidemill.verticals.listings.reading.rooms import Span, count, parse_baths, parse_beds, parse_size
from tidemill.verticals.listings.reasons import Reason
from tidemill.verticals.listings.record import Listing, RentBasis

LEAST_RENT, MOST_RENT = 10_000, 10_000_000
"""Cents a month outside of which a rent is a slip of somebody's pen, for a person to look at."""

_FOR_SALE = re.compile(r"\bfor sale\b|\bsold\b|\bte koop\b", re.IGNORECASE)
_TAKEN = re.compile(
    r"\b(?:rented|leased|off[- ]market|no longer available|not available|unavailable|verhuurd)\b", re.IGNORECASE
)
_NOW = re.compile(r"\b(?:now|immediate(?:ly)?|today|soon|per direct)\b", re.IGNORECASE)
_BARE_SIZE = re.compile(r"\d[\d,]*(?:\.\d+)?(?:\s*-\s*\d[\d,]*(?:\.\d+)?)?")


def judge(raw: RawRecord, context: Context) -> Verdict:
    """Keep the listing, drop it or set it aside."""
    if raw.fields.get("unknown_shape"):
        return Quarantined(Reason.UNKNOWN_SHAPE, str(raw.fields["unknown_shape"]))
    fields = text_fields(raw.fields)
    if "unread" in raw.fields:
        return Dropped(Reason.NO_RENT, f"{fields.address or fields.title}: {raw.fields['unread']}"[:200])
    address = address_of(fields, context)
    if (useless := why_incomplete(fields, address) or why_unusable(fields, address, context)) is not None:
        return useless
    rent = parse_rent(fields.rent, fields.currency or currency_of(context)) if fields.rent else None
    if (trouble := rent_trouble(fields, rent) or other_currency(rent, context)) is not None:
        return _about(trouble, fields, address, raw, context)
    listing = make_listing(fields, address, rent, raw, context)
    return Accepted(identity_of(listing), msgspec.structs.replace(listing, quality=quality(listing)))


def why_incomplete(fields: RawListing, address: PostalAddress) -> Dropped | None:
    """What no listing can do without: a place, a name or a door, and a way to it.

    A neighbourhood is place enough for one that its site numbers: it is known by that number alone.
    """
    if not address.door and fields.latitude is None and not (fields.neighborhood and fields.id):
        return Dropped(Reason.NO_PLACE, "no address and no coordinates")
    if not fields.title and not fields.address:
        return Dropped(Reason.NO_NAME, "no title and no address")
    if not fields.url and not fields.id:
        return Dropped(Reason.NO_LINK, "neither an id nor an address of its own")
    return None


def why_unusable(fields: RawListing, address: PostalAddress, context: Context) -> Dropped | None:
    """Why a listing is none of ours although it is in order: it lies elsewhere, or cannot be rented."""
    expected = context.parameters.get("state", "").lower()
    if expected and address.state and address.state != expected:
        return Dropped(Reason.ELSEWHERE, f"in {address.state.upper()}, not {expected.upper()}", harmless=True)
    if outside := why_outside(address, context.parameters):
        return Dropped(Reason.ELSEWHERE, outside, harmless=True)
    if _FOR_SALE.search(f"{fields.kind} {fields.rent} {fields.available}"):
        return Dropped(Reason.NOT_FOR_RENT, "for sale", harmless=True)
    if _TAKEN.search(f"{fields.available} {fields.rent}") and not _digits(fields.rent):
        return Dropped(Reason.NOT_FOR_RENT, "no longer for rent", harmless=True)
    return None


def why_outside(address: PostalAddress, market: Mapping[str, str]) -> str:
    """Why an address does not lie in its market, by its postal code or its town; '' if it does, or says neither."""
    city, area = normalized(market.get("city", "")), market.get("area", "").split(AREA_ENDS)
    if not city or "area" not in market:
        return ""
    codes = [each for each in area if each[:1].isdigit()]
    if address.postal_code and codes:
        within = any(address.postal_code.startswith(code.lower()) for code in codes)
        return "" if within else f"{address.postal_code} {address.city} is not of {market['market']}"
    towns = {city, *(normalized(each) for each in area if not each[:1].isdigit())}
    if not address.city or address.city in towns:
        return ""
    return f"in {address.city}, not {market['city']}; name it in the market's area if it belongs to it"


def _about(
    trouble: Dropped | Quarantined, fields: RawListing, address: PostalAddress, raw: RawRecord, context: Context
) -> Verdict:
    """What is set aside says which home it is about: a later reading of it that is in order ends it."""
    if isinstance(trouble, Dropped):
        return trouble
    return msgspec.structs.replace(trouble, subject=identity_of(make_listing(fields, address, None, raw, context)))


def currency_of(context: Context) -> str:
    """What an amount without a currency is in: what the market's rents are in."""
    return context.parameters.get("currency") or "USD"


def rent_trouble(fields: RawListing, rent: Rent | None) -> Dropped | Quarantined | None:
    """What is wrong with the rent, if anything: an unreadable one is for a person, never a guess."""
    if rent is None:
        return Quarantined(Reason.BAD_RENT, f"unreadable: {fields.rent[:80]!r}") if _digits(fields.rent) else None
    if rent.period is Period.NIGHT:
        return Dropped(Reason.SHORT_STAY, "rented by the night", harmless=True)
    low, worth = rent.monthly(rent.low), UNITS_OF_A_DOLLAR.get(rent.currency, 1)
    if low is not None and not LEAST_RENT * worth <= low <= MOST_RENT * worth:
        return Quarantined(Reason.BAD_RENT, f"{low / 100:.2f} {rent.currency} a month")
    return None


def other_currency(rent: Rent | None, context: Context) -> Quarantined | None:
    """What is wrong with a rent in another currency than its market's: a person says what it is worth, or where."""
    expected = currency_of(context) if context.parameters.get("market") else ""
    if rent is None or not expected or rent.currency in {"", expected}:
        return None
    return Quarantined(Reason.OTHER_CURRENCY, f"in {rent.currency}, while the market is in {expected}")


def address_of(fields: RawListing, context: Context) -> PostalAddress:
    """The address, completed with what the market says: a card in Boston's list need not say Boston."""
    address = read_address(
        fields.address, unit=fields.unit, city=fields.city, state=fields.state, postal_code=fields.postal_code
    )
    market = context.parameters
    if address.city and address.state:
        return address
    return msgspec.structs.replace(
        address,
        city=address.city or normalized(market.get("city", "")),
        state=address.state or market.get("state", "").lower(),
    )


def make_listing(
    fields: RawListing, address: PostalAddress, rent: Rent | None, raw: RawRecord, context: Context
) -> Listing:
    """The listing out of its words."""
    beds, baths = rooms_of(fields)
    size = parse_size(fields.size) or _bare_size(fields.size, fields.currency) or parse_size(fields.title)
    low, high = (rent.monthly(rent.low), rent.monthly(rent.high)) if rent is not None else (None, None)
    return Listing(
        title=fields.title or fields.address,
        url=fields.url or context.page_url,
        own_id=fields.id,
        address=fields.address,
        door=address.door,
        unit=address.unit,
        city=address.city,
        state=address.state,
        postal_code=address.postal_code,
        neighborhood=fields.neighborhood,
        rent_low=low,
        rent_high=high,
        rent_basis=basis_of(rent),
        currency=rent.currency if rent is not None else fields.currency or currency_of(context),
        beds_low=beds.low if beds else None,
        beds_high=beds.high if beds else None,
        baths_low=baths.low if baths else None,
        baths_high=baths.high if baths else None,
        size_low=int(size.low) if size else None,
        size_high=int(size.high) if size else None,
        available_on=available_on(fields.available, context),
        available_text=fields.available,
        kind=fields.kind,
        amenities=fields.amenities,
        description=fields.description,
        images=fields.images,
        latitude=fields.latitude,
        longitude=fields.longitude,
        market_id=context.parameters.get("market", ""),
        source_id=context.source.id,
        source_name=context.source.name,
        confidence=raw.confidence,
        quality=0,
    )


def rooms_of(fields: RawListing) -> tuple[Span | None, Span | None]:
    """Beds and baths, from fields of their own or from the words of either, else from the title."""
    together = f"{fields.beds} {fields.baths}"
    beds = count(fields.beds) or parse_beds(fields.beds) or parse_beds(together) or parse_beds(fields.title)
    baths = count(fields.baths) or parse_baths(fields.baths) or parse_baths(together) or parse_baths(fields.title)
    return beds, baths


def basis_of(rent: Rent | None) -> RentBasis:
    """What the rent is asked for; a listing that names none must be asked."""
    if rent is None or rent.on_request:
        return RentBasis.ON_REQUEST
    return RentBasis.PERSON if rent.per_person else RentBasis.UNIT


def available_on(text: str, context: Context) -> date | None:
    """The day from which one can move in; today if it says now, None if it does not say."""
    if not text:
        return None
    moment = parse_moment(text, context.read_at, context.source.time_zone, context.source.language)
    if moment is not None:
        return moment.day
    return context.read_at.date() if _NOW.search(text) else None


def identity_of(listing: Listing) -> str:
    """The key within its source: the source's own id, else the door and its rooms, else its address on the web."""
    if listing.own_id:
        return f"ID:{listing.own_id[:200]}"
    if listing.address_key:
        return f"DOOR:{fingerprint(listing.address_key)[:32]}"
    try:
        address = canonicalize(listing.url)
    except BadUrl:
        address = listing.url
    return f"URL:{fingerprint(address)[:32]}"


def _bare_size(text: str, currency: str) -> Span | None:
    """A size without its unit: metres where rents are in euros, feet elsewhere."""
    if not _BARE_SIZE.fullmatch(text.strip()):
        return None
    return parse_size(f"{text.strip()} {'m²' if currency == 'EUR' else 'sqft'}")


def _digits(text: str) -> bool:
    return any(letter.isdigit() for letter in text)
