"""Prices in attributes of single elements: `itemprop` without a scope, `data-price`, a form's hidden field."""

from decimal import Decimal

from selectolax.lexbor import LexborNode

from tidemill.core.record import Strategy
from tidemill.reading.document import Document
from tidemill.verticals.prices.reading.claims.claim import PriceClaim, amount_of
from tidemill.verticals.prices.reading.shown.hints import Hint, hints_of
from tidemill.verticals.prices.reading.shown.price_text import text_within

_CONFIDENCE = 0.7
_ATTRIBUTES = (
    ("[itemprop=price]", "content"),
    ("[data-product-price]", "data-product-price"),
    ("[data-current-price]", "data-current-price"),
    ("[data-sale-price]", "data-sale-price"),
    ("[data-price-amount]", "data-price-amount"),
    ("[data-price]", "data-price"),
    ("form input[type=hidden][name$=price]", "value"),
)
_MOST = 30


def attribute_claim(document: Document, page_currency: str) -> PriceClaim | None:
    """The price that such attributes give, if all agree but for other products' and former prices."""
    for selector, attribute in _ATTRIBUTES:
        nodes = [node for node in document.css(selector)[:_MOST] if not _is_aside(node)]
        amounts = {amount for node in nodes if (amount := _amount(node, attribute, page_currency))}
        if len(amounts) == 1:
            return PriceClaim(
                strategy=Strategy.SELECTORS,
                origin="markup",
                confidence=_CONFIDENCE,
                places={"price": f"{selector}@{attribute}"},
                price=amounts.pop(),
                currency="",
            )
    return None


def _amount(node: LexborNode, attribute: str, page_currency: str) -> Decimal | None:
    written = node.attributes.get(attribute)
    if not written and attribute == "content":
        written = text_within(node)
    return amount_of(written, page_currency) if written and len(written) <= 30 else None  # noqa: PLR2004 - no price is longer


def _is_aside(node: LexborNode | None) -> bool:
    while node is not None and node.tag != "body":
        if hints_of(f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}") & (
            Hint.ASIDE | Hint.OLD
        ):
            return True
        node = node.parent
    return False
