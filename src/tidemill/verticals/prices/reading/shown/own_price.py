"""The element that is there for the product's price, when nothing in it can be read as one."""

import re

from tidemill.verticals.prices.reading.shown.hints import NOT_THE_PRICE, Hint
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout
from tidemill.verticals.prices.reading.shown.price_text import text_within
from tidemill.verticals.prices.reasons import ExtractReason, QuarantineReason

_NEAR = 40
_LONGEST = 60
_FREE = re.compile(r"\W*(?:free|gratis|kostenlos|gratuit\w*|grátis|zdarma|0+(?:[.,]0+)?)\W*", re.IGNORECASE)

_ON_REQUEST = re.compile(
    r"(?:call|phone|e-?mail|contact us|ask|enquire|inquire|log ?in|sign ?in|register|add to cart)\b.{0,12}(?:for|"
    r"to see|to view|for the) (?:a |the |your |our )?(?:\w+ )?(?:price|prices|pricing|quote)|"
    r"(?:see|view|show) (?:the )?(?:our )?price in (?:the |your )?(?:cart|basket|checkout)|"
    r"price (?:(?:up)?on|by) (?:request|application|enquiry|inquiry)|"
    r"price (?:too low to show|hidden|shown in cart)|too low to (?:display|show|advertise)|preis auf anfrage|"
    r"prijs op (?:aan)?vraag|prix sur (?:demande|devis)|precio a consultar|consultar precio|prezzo su richiesta|"
    r"preço sob consulta|cena na (?:zapytanie|dotaz|vyžádání|vyžiadanie)|"
    r"pris på (?:förfrågan|forespørsel|forespørgsel)|pris efter aftale|hinta pyynnöstä|цена по запросу|"
    r"ціна за запитом|ár egyeztetés|preț la cerere|fiyat (?:sorunuz|için)|价格面议|價格面議|"
    r"価格はお問い合わせ|ask price",
    re.IGNORECASE,
)
"""Words in a price's place that say that it is told to those who ask, or who log in."""
_REACH, _LONGEST_REQUEST = 60, 60


def is_on_request(layout: PageLayout) -> bool:
    """Whether the page says under its heading that the price is told on request, or in the cart only."""
    if layout.heading_order < 0:
        return False
    return any(
        len(text_node.text) <= _LONGEST_REQUEST
        and 0 < text_node.order - layout.heading_order <= _REACH
        and not text_node.hints & (Hint.ASIDE | Hint.HIDDEN)
        and _ON_REQUEST.search(text_node.text) is not None
        for text_node in layout.texts
    )


def is_blank(layout: PageLayout) -> bool:
    """Whether the product's own price element is there and says that it is free or nothing, and no other says more."""
    own = [
        element
        for element in layout.price_elements
        if not element.hints & (NOT_THE_PRICE | Hint.HIDDEN | Hint.OLD | Hint.VARIANT)
        and 0 <= element.order - layout.heading_order <= _NEAR
        and element.node.tag in _BOXES
    ]
    texts = [text_within(element.node) for element in own]
    return bool(texts) and all(not text or _FREE.fullmatch(text) is not None for text in texts)


_BOXES = frozenset({"div", "span", "p", "dd", "td", "strong", "b", "h2", "h3", "h4", "section", "ins", "bdi", "em"})


UnreadPrice = tuple[ExtractReason | QuarantineReason, str]


def unreadable_price(layout: PageLayout) -> UnreadPrice | None:
    """Why the product's own price element gives none, if there is one by the heading; the search ends there."""
    for element in layout.price_elements:
        if element.hints & (NOT_THE_PRICE | Hint.HIDDEN | Hint.OLD) or element.order - layout.heading_order > _NEAR:
            continue
        text = text_within(element.node)
        if _FREE.fullmatch(text):
            return QuarantineReason.ZERO_PRICE_EXTRACTED, f"the price says {text!r}"
        said = f"says {text[:_LONGEST]!r}, which is no price" if text else "is empty"
        return ExtractReason.PRICE_NOT_FOUND, f"the price element {said}"
    return None
