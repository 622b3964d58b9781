"""Result cards on pages without markup for them: blocks that repeat, each with a rent or rooms and a way in (P1)."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.document import Document
from tidemill.reading.heuristics.outline import HEADINGS, Element, outline_of
from tidemill.reading.listings.rent import has_rent, parse_rent
from tidemill.reading.listings.rooms import parse_baths, parse_beds, parse_size
from tidemill.reading.text import block_of

MOST = 1_000
_LARGEST_CARD, _LARGEST_LEAF = 3_000, 160
_LONGEST_LINE = 200
_SURE, _SURER = 0.5, 0.65

_STREET = (
    r"\d+[A-Za-z]?(?:-\d+)?\s+(?!(?:bed|bd|br|bath|ba|room|month|week|min|mile|block|day|hour|unit|car)[a-z]*\b)(?:[NSEW]\.?\s+)?(?:[\w'.]+\s+){0,4}?(?:st(?:reet)?|ave(?:nue)?|r(?:oa)?d|blvd|boulevard|dr(?:ive)?|"
    r"l(?:a)?ne?|c(?:our)?t|pl(?:ace)?|sq(?:uare)?|ter(?:race)?|p(?:ar)?kwa?y|h(?:igh)?wa?y|cir(?:cle)?|way|walk|row|broadway|plaza|plz)\b\.?"
)
_ADDRESS = re.compile(
    rf"{_STREET}(?:[^|\n]{{0,80}}?\b[A-Z]{{2}}\b(?:\s+\d{{5}})?|(?:,?\s*(?:apt|unit|#)\.?\s*[\w-]+)?)", re.IGNORECASE
)
_ADDRESS_NAMES = re.compile(r"address|adres|street|locality")
_TITLE_NAMES = re.compile(r"title|(?:^|[\s_-])name|heading|property-name")
_RENT_NAMES = re.compile(r"price|rent|huur")
_HOOD_NAMES = re.compile(r"neighbou?rhood|district|buurt|wijk|(?:^|[\s_-])(?:hood|location|area)(?:$|\s)")
_AVAILABLE = re.compile(r"\b(?:available|beschikbaar|move[- ]in)\b[^|\n]{0,40}", re.IGNORECASE)
_ID_ATTRIBUTES = (
    "data-listingid",
    "data-listing-id",
    "data-property-id",
    "data-propertyid",
    "data-pid",
    "data-id",
    "data-zpid",
    "data-key",
)
_ID_IN_ADDRESS = re.compile(
    r"/(?:[\w-]*-)?(\d{4,}(?=_[a-z]+/?$|\D|$)|[a-z0-9]{6,10}(?=/?$))(?:_[a-z]+)?/?(?:\.html?)?(?:[?#].*)?$",
    re.IGNORECASE,
)
_COLUMNS = (
    ("address", re.compile(r"address|street", re.IGNORECASE)),
    ("unit", re.compile(r"\b(?:unit|apt|apartment)\b", re.IGNORECASE)),
    ("beds", re.compile(r"\b(?:bed\w*|brs?)\b", re.IGNORECASE)),
    ("baths", re.compile(r"\b(?:bath\w*|ba)\b", re.IGNORECASE)),
    ("size", re.compile(r"\b(?:sq\.?\s?f\w*|size|area)\b", re.IGNORECASE)),
    ("available", re.compile(r"availab|move", re.IGNORECASE)),
    ("neighborhood", re.compile(r"neighbou?rhood", re.IGNORECASE)),
)
_PICTURES = ("src", "data-src", "data-lazy-src", "data-original")


def read_cards(document: Document) -> list[RawRecord]:
    """The listings that the page's layout gives away."""
    root = document.bounded_tree.body or document.bounded_tree.root
    if root is None:
        return []
    elements = outline_of(root)
    cards = cards_of(elements)[:MOST]
    records = [_record(card, document) for card in cards]
    return [record for record in records if record is not None]


def cards_of(elements: list[Element]) -> list[Element]:
    """The smallest blocks around a rent, beside which like blocks tell one too."""
    holding: set[int] = set()
    alike: Counter[tuple[int, str]] = Counter()
    leaves = [element for element in elements if tells_rent(element)]
    for leaf in leaves:
        for element in upwards(leaf):
            if element.order in holding:
                break
            holding.add(element.order)
            if element.parent is not None:
                alike[element.parent.order, element.kind] += 1
    found = {card.order: card for leaf in leaves if (card := _card_of(leaf, alike)) is not None}
    return [found[order] for order in sorted(found)]


def tells_rent(element: Element) -> bool:
    """Whether it is the smallest element that names a rent, or is named for it and says that one must ask."""
    text = element.text
    if not text or len(text) > _LARGEST_LEAF or any(has_rent(child.text) for child in element.children):
        return False
    if has_rent(text):
        return True
    return _RENT_NAMES.search(element.names) is not None and not element.children and parse_rent(text) is not None


def upwards(element: Element) -> Iterator[Element]:
    """The element and all that it is in."""
    current: Element | None = element
    while current is not None:
        yield current
        current = current.parent


def _card_of(leaf: Element, alike: Counter[tuple[int, str]]) -> Element | None:
    for element in upwards(leaf):
        if element.parent is None or len(element.text) > _LARGEST_CARD:
            return None
        if alike[element.parent.order, element.kind] > 1 and is_card(element):
            return element
    return None


def is_card(element: Element) -> bool:
    """Whether a block tells enough to be a home: a door or rooms, and a link or a number of its own."""
    text = " | ".join(element.lines())
    tells_home = _ADDRESS.search(text) is not None or parse_beds(text) is not None
    return tells_home and (own_id(element) != "" or any(one.tag == "a" for one in element.walk()))


def _record(card: Element, document: Document) -> RawRecord | None:
    lines = card.lines()
    text = " | ".join(lines)
    url = link_of(card, document)
    fields = {
        "title": title_of(card),
        "url": url,
        "id": own_id(card) or _id_in(url),
        "address": address_of(card, text),
        "neighborhood": named(card, _HOOD_NAMES),
        "rent": rent_of(card),
        "beds": next((line for line in lines if parse_beds(line)), ""),
        "baths": next((line for line in lines if parse_baths(line)), ""),
        "size": next((line for line in lines if parse_size(line)), ""),
        "available": match[0] if (match := _AVAILABLE.search(text)) else "",
        "images": picture_of(card, document),
    }
    fields = columns_of(card) | {name: value for name, value in fields.items() if value}
    told = {name: value for name, value in fields.items() if value}
    if "address" not in told and "beds" not in told:
        return None
    sure = _SURER if {"address", "beds", "id"} <= told.keys() else _SURE
    return RawRecord(
        fields=told, strategy=Strategy.HEURISTICS, confidence=sure, origin=f"cards/{card.path()}[{card.order}]",
        block=block_of(card.node.html or ""),
    )  # fmt: skip


def columns_of(card: Element) -> dict[str, Any]:
    """What a table's head says of a row's cells: beds and baths are bare numbers there."""
    if card.tag != "tr" or card.parent is None:
        return {}
    table = next((one for one in upwards(card) if one.tag == "table"), card.parent)
    head = next(
        (one for one in table.walk() if one.tag == "tr" and any(cell.tag == "th" for cell in one.children)), None
    )
    if head is None or head is card:
        return {}
    found: dict[str, Any] = {}
    for name, cell in zip(head.children, card.children, strict=False):
        field = next((field for field, words in _COLUMNS if words.search(name.text)), None)
        if field is not None and cell.text:
            found.setdefault(field, cell.text)
    return found


def rent_of(card: Element) -> str:
    """The card's rent: what is named so, else the first that is told; on request where it says so."""
    named_so = [one for one in card.walk() if one is not card and _RENT_NAMES.search(one.names)]
    for element in (*named_so, *(one for one in card.walk() if tells_rent(one))):
        if len(element.text) <= _LARGEST_LEAF and parse_rent(element.text) is not None:
            return element.text
    return ""


def title_of(card: Element) -> str:
    """What the home is called: a heading, what is named so, or the link's words."""
    under = [one for one in card.walk() if one is not card and one.text]
    likely = (
        *(one for one in under if one.tag in HEADINGS),
        *(one for one in under if _TITLE_NAMES.search(one.names)),
        *(one for one in under if one.tag == "a" and not has_rent(one.text)),
    )
    return next((one.text for one in likely if len(one.text) <= _LONGEST_LINE), "")


def address_of(card: Element, text: str) -> str:
    """Where it is: what is named an address, else a door and a street in its words."""
    for element in card.walk():
        is_named_so = element.tag == "address" or _ADDRESS_NAMES.search(element.names)
        if element is not card and is_named_so and 0 < len(element.text) <= _LONGEST_LINE:
            return element.text
    match = _ADDRESS.search(text)
    return match[0].strip(" ,") if match else ""


def named(card: Element, names: re.Pattern[str]) -> str:
    """The words of the first element that is named so."""
    return next((one.text for one in card.walk() if one is not card and names.search(one.names)), "")[:100].strip("() ")


def link_of(card: Element, document: Document) -> str:
    """The address of the home's own page: the heading's link, the card's own, or the first."""
    anchors = [one for one in (*upwards(card), *card.walk()) if one.tag == "a"]
    headings = [one for one in anchors if one.parent is not None and one.parent.tag in HEADINGS]
    for anchor in (*headings, *anchors):
        href = anchor.attributes.get("href") or ""
        if href and not href.startswith(("#", "mailto:", "tel:", "javascript:")):
            return document.absolute(href)
    return ""


def own_id(card: Element) -> str:
    """The site's own number for the home, as markup tells it."""
    for element in (card, *card.children):
        for name in _ID_ATTRIBUTES:
            if value := element.attributes.get(name):
                return value.strip()
    return ""


def _id_in(url: str) -> str:
    match = _ID_IN_ADDRESS.search(url)
    return match[1] if match and any(letter.isdigit() for letter in match[1]) else ""


def picture_of(card: Element, document: Document) -> list[str]:
    """The addresses of the card's pictures, the placeholders left out."""
    found = []
    for element in card.walk():
        if element.tag == "img":
            source = next((one for name in reversed(_PICTURES) if (one := element.attributes.get(name))), "")
            if source and not source.startswith("data:") and (whole := document.absolute(source)):
                found.append(whole)
    return list(dict.fromkeys(found))[:10]
