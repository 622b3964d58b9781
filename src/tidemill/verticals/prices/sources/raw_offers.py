"""From what was read of a product page to raw offers, or to the failure that says why there are none."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, RawRecord, Reading
from tidemill.core.urls import BadUrl, canonicalize
from tidemill.core.vertical import Context
from tidemill.verticals.prices.reading import NoOffer, Product, ProductReading
from tidemill.verticals.prices.reasons import FAILURE_OF, ExtractReason, QuarantineReason

_ATTRIBUTES = {
    "caliber": ("caliber", "calibre", "cartridge", "gauge"),
    "grain": ("grain", "grains", "bullet weight", "grain weight", "weight (grains)"),
    "rounds": ("rounds", "rounds per box", "quantity per box", "round count", "rounds/box", "count", "pack size"),
    "case_material": ("case material", "casing", "case type", "case", "casing material"),
    "bullet_type": ("bullet type", "bullet", "projectile", "bullet style", "projectile type"),
    "load_type": ("shot size", "load type", "shot", "load", "shell type"),
    "shell_length": ("shell length", "length"),
}  # fmt: skip
"""Under which names the tables of shops keep what ammunition is made of."""


def is_markup(content_type: str) -> bool:
    """Whether a response's type promises text that a product can be read from; no type at all is given a try."""
    kind = content_type.partition(";")[0].strip().lower()
    return not kind or kind.startswith("text/") or "html" in kind or "xml" in kind or kind.endswith("json")


def currency_of(context: Context) -> str:
    """The currency that the source's settings name; '' if they leave it to the page."""
    return str(context.source.adapter_settings.get("currency", "")).upper()


def failed(reason: ExtractReason, detail: str = "") -> Fail:
    """A page without an offer as a job's failure; the reason's own word stands first in the detail."""
    return Fail(FAILURE_OF.get(reason, Failure.LAYOUT_CHANGED), f"{reason}: {detail}" if detail else str(reason))


def adapter_answer(reading: ProductReading, page: Page, adapter: str) -> Reading:
    """The raw offer of a product page; what is sold out, ambiguous or free goes on to be judged, with its reason."""
    match reading:
        case Product() as product:
            return Found(records=[raw_offer(product, adapter)])
        case NoOffer(reason=ExtractReason.OOS_NO_PRICE, product=product):
            return Found(records=[raw_offer(product, adapter)])
        case NoOffer(reason=QuarantineReason(), product=product):
            return Found(records=[raw_offer(product, adapter)])
        case NoOffer(reason=reason, detail=detail):
            return failed(_after_redirect(ExtractReason(reason), page), detail)


def _after_redirect(reason: ExtractReason, page: Page) -> ExtractReason:
    """A product's address that leads to another page without a product: the product moved or went."""
    missing = {ExtractReason.PRICE_NOT_FOUND, ExtractReason.TITLE_NOT_FOUND}
    return ExtractReason.PAGE_STRUCTURE_CHANGED if reason in missing and was_redirected(page) else reason


def was_redirected(page: Page) -> bool:
    """Whether the page came from another address than was asked for."""
    try:
        return canonicalize(page.url) != canonicalize(page.final_url or page.url)
    except BadUrl:
        return False


def raw_offers(products: Sequence[Product], adapter: str) -> list[RawRecord]:
    """The raw offers of a list; a product that the list shows twice is marked the second time."""
    seen: set[str] = set()
    records = []
    for product in products:
        key = product.url or product.title
        records.append(raw_offer(product, adapter, repeated=key in seen))
        seen.add(key)
    return records


def raw_offer(product: Product, adapter: str, *, repeated: bool = False) -> RawRecord:
    """A product's fields under the vertical's own names; what the page does not say is absent."""
    fields: dict[str, Any] = {
        "title": product.title,
        "price": _text(product.price),
        "currency": product.currency,
        "list_price": _text(product.list_price),
        "availability": str(product.availability),
        "url": product.url if product.origin.startswith("list/") else "",
        "sku": product.sku,
        "product_id": product.product_id,
        "gtin": product.gtin,
        "mpn": product.mpn,
        "brand": product.brand,
        "image": product.image,
        "shipping": _text(product.shipping),
        "tax": product.tax,
        "prices": ", ".join(str(amount) for amount in product.candidates) or _range(product),
        "doubt": str(product.doubt or ""),
        "repeated": "yes" if repeated else "",
        "adapter": adapter,
        **_ammunition(product.attributes),
    }
    return RawRecord(
        fields={name: value for name, value in fields.items() if value != ""},
        strategy=product.strategy,
        confidence=product.confidence,
        origin=product.origin or "page",
        places=product.places,
    )


def _ammunition(attributes: Mapping[str, str]) -> dict[str, str]:
    found = {
        field: next((attributes[name] for name in names if name in attributes), "")
        for field, names in _ATTRIBUTES.items()
    }
    return {field: value for field, value in found.items() if value}


def _range(product: Product) -> str:
    return f"{product.price} to {product.high_price}" if product.high_price is not None else ""


def _text(amount: Any) -> str:
    return "" if amount is None else str(amount)
