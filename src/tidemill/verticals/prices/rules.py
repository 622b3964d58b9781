"""Judging a raw offer: fail closed on what is missing or ambiguous; keys and derived values are made here."""

import hashlib
from decimal import Decimal

from msgspec.structs import replace

from tidemill.core.record import RawRecord
from tidemill.core.source import Source
from tidemill.core.urls import BadUrl, canonicalize, registrable_domain, shown_address
from tidemill.core.verdict import Accepted, Dropped, Quarantined, Verdict
from tidemill.core.vertical import Context
from tidemill.reading.currencies import currency_code
from tidemill.reading.currency_codes import in_cents
from tidemill.reading.identifiers import as_upc
from tidemill.reading.money import parse_money
from tidemill.reading.stock import Availability, availability_in
from tidemill.reading.text import plain, squash
from tidemill.verticals.prices.ammunition import ammunition_in
from tidemill.verticals.prices.raw_fields import RawOffer, text_fields
from tidemill.verticals.prices.reasons import DropReason, QuarantineReason
from tidemill.verticals.prices.record import LEAST_CENTS, MOST_CENTS, Offer

_LONGEST_TITLE, _LONGEST_NAME, _LONGEST_KEY, _LONGEST_URL = 500, 200, 255, 2_000
_HASH_LENGTH = 16
CONFIDENCE_FLOOR = 0.5
"""A price that was read with less is set aside: on real pages such readings were right less than half of the time."""


def judge(raw: RawRecord, context: Context) -> Verdict:
    """Keep a raw offer as an `Offer`, drop it or set it aside: what it must have first, then its price and stock."""
    fields = text_fields(raw.fields)
    title, address = plain(fields.title, _LONGEST_TITLE), fields.url or context.page_url
    if refusal := _unidentified(fields, title, address):
        return refusal
    availability = availability_in(fields.availability)
    priced = _priced(fields, context.source) if fields.price else _without_price(fields, availability)
    if not isinstance(priced, tuple):
        return _about(priced, identity_key(fields.product_id, fields.sku, canonicalize(address)))
    if raw.confidence < CONFIDENCE_FLOOR:
        unsure = Quarantined(QuarantineReason.VALIDATION_FAILED, f"read with a confidence of {raw.confidence:.2f} only")
        return _about(unsure, identity_key(fields.product_id, fields.sku, canonicalize(address)))
    if availability is Availability.UNKNOWN:
        return Dropped(DropReason.UNKNOWN_AVAILABILITY, fields.availability[:200] or "the page does not say")
    offer = _offer(fields, title, address, priced, availability, raw, context)
    return Accepted(offer.identity_key, offer)


def _about(verdict: Verdict, identity: str) -> Verdict:
    """What is set aside says which product it is about, so that later readings of it are put to the same row."""
    return replace(verdict, subject=identity) if isinstance(verdict, Quarantined) else verdict


def identity_key(product_id: str, sku: str, canonical_url: str) -> str:
    """What makes an offer's product the same one within its source: its own id, else its SKU, else its address."""
    for kind, value in (("PID", product_id), ("SKU", sku)):
        kept = squash(value)
        if kept and ":" not in kept and len(kept) <= _LONGEST_KEY:
            return f"{kind}:{kept}"
    return "URL:" + hashlib.sha256(canonical_url.encode()).hexdigest()[:_HASH_LENGTH]


def cost_per_round(price_cents: int, rounds: int | None) -> float | None:
    """The price of one round in cents, to the hundredth of a cent; never read from the page."""
    return round(price_cents / rounds, 2) if rounds else None


def _unidentified(fields: RawOffer, title: str, address: str) -> Verdict | None:
    """Why nobody could say which product it is: shown twice, without a title, or at no address."""
    if fields.repeated:
        return Dropped(DropReason.DUPLICATE_WITHIN_RUN, fields.url or title)
    if not title:
        return Dropped(DropReason.MISSING_REQUIRED_FIELD, "title")
    try:
        canonicalize(address)
    except BadUrl:
        return Dropped(DropReason.INVALID_URL, address[:200])
    return None


def _without_price(fields: RawOffer, availability: Availability) -> Verdict:
    if fields.prices:
        return Quarantined(QuarantineReason.AMBIGUOUS_PRICE, fields.prices[:200])
    if availability is Availability.OUT_OF_STOCK:
        return Dropped(DropReason.OOS_NO_PRICE, "sold out, and no price shown", harmless=True)
    return Dropped(DropReason.MISSING_REQUIRED_FIELD, "price")


def _priced(fields: RawOffer, source: Source) -> tuple[int, str] | Verdict:
    """The price in cents with its currency, or why it is not believed."""
    settled = str(source.adapter_settings.get("currency", "")).upper()
    money = parse_money(fields.price, fields.currency, page_currency=settled)
    if money is None:
        return Dropped(DropReason.INVALID_PRICE, fields.price[:200])
    if money.amount == 0:
        return Quarantined(QuarantineReason.ZERO_PRICE_EXTRACTED, fields.price[:200])
    if fields.doubt in QuarantineReason.__members__:
        return Quarantined(QuarantineReason(fields.doubt), fields.prices[:200])
    if not money.is_plain:
        return Quarantined(QuarantineReason.AMBIGUOUS_PRICE, fields.price[:200])
    written = fields.currency or money.symbol
    currency = currency_code(written, settled) or ("" if written else settled)
    if refusal := _refused_currency(written, currency, settled):
        return refusal
    return _in_range(money.amount, currency)


def _refused_currency(written: str, currency: str, settled: str) -> Verdict | None:
    if not currency and written:
        return Quarantined(QuarantineReason.NORMALIZATION_FAILED, f"no currency that we know: {written[:50]}")
    if not currency:
        return Dropped(DropReason.MISSING_REQUIRED_FIELD, "currency")
    if settled and currency != settled:
        return Quarantined(
            QuarantineReason.VALIDATION_FAILED, f"priced in {currency}, while the source is in {settled}"
        )
    return None


def _in_range(amount: Decimal, currency: str) -> tuple[int, str] | Verdict:
    cents = in_cents(amount, currency)
    if LEAST_CENTS <= cents <= MOST_CENTS:
        return cents, currency
    return Dropped(DropReason.INVALID_PRICE, f"{amount} {currency} is out of range")


def _offer(
    fields: RawOffer,
    title: str,
    url: str,
    priced: tuple[int, str],
    availability: Availability,
    raw: RawRecord,
    context: Context,
) -> Offer:
    cents, currency = priced
    box = ammunition_in(title, fields)
    return Offer(
        source_id=context.source.id,
        retailer=retailer_of(context.source),
        url=shown_address(url),
        title=title,
        price_cents=cents,
        currency=currency,
        availability=availability,
        observed_at=context.read_at,
        identity_key=identity_key(fields.product_id, fields.sku, canonicalize(url)),
        adapter_version=fields.adapter or context.source.adapter_id,
        sku=_short(fields.sku),
        product_id=_short(fields.product_id),
        upc=as_upc(fields.gtin),
        mpn=_short(fields.mpn),
        brand=_short(plain(fields.brand)),
        list_price_cents=_list_price(fields, cents, currency),
        shipping_cents=_beside(fields.shipping, currency),
        tax_included={"included": True, "excluded": False}.get(fields.tax),
        image_url=fields.image if 0 < len(fields.image) <= _LONGEST_URL else None,
        confidence=raw.confidence,
        caliber=box.caliber,
        grain_weight=box.grain_weight,
        round_count=box.round_count,
        case_material=box.case_material,
        bullet_type=box.bullet_type,
        load_type=box.load_type,
        shell_length=box.shell_length,
        cost_per_round_cents=cost_per_round(cents, box.round_count),
    )


def retailer_of(source: Source) -> str:
    """The shop behind a source: as its settings name it, else its registered domain."""
    named = source.adapter_settings.get("retailer")
    return str(named) if named else registrable_domain(source.base_url)


def _list_price(fields: RawOffer, cents: int, currency: str) -> int | None:
    listed = _beside(fields.list_price, currency)
    return listed if listed is not None and listed > cents else None


def _beside(text: str, currency: str) -> int | None:
    """A further amount of the same offer, in cents; None for one that cannot be."""
    money = parse_money(text, page_currency=currency) if text else None
    if money is None or money.currency not in {"", currency}:
        return None
    cents = in_cents(money.amount, currency)
    return cents if 0 <= cents <= MOST_CENTS else None


def _short(text: str) -> str | None:
    return squash(text)[:_LONGEST_NAME] or None
