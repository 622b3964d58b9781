"""What one result card says of its home, read off its names, labels and words."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from tidemill.reading.document import Document
from tidemill.reading.outline import HEADINGS, Element
from tidemill.verticals.listings.reading.rent import has_rent, parse_rent
from tidemill.verticals.listings.reading.rooms import parse_baths, parse_beds, parse_size

_LARGEST_LEAF, _LONGEST_LINE = 160, 200

_STREET = (
    r"\d+[A-Za-z]?(?:-\d+)?\s+(?!(?:(?:bed|bath)(?:room)?|bd|br|bdrm|room|month|week|min(?:ute)?|mile|block|day|hour|unit|car)s?\b|ba\b)(?:[NSEW]\.?\s+)?(?:[\w'.]+\s+){0,4}?(?:st(?:reet)?|ave(?:nue)?|r(?:oa)?d|blvd|boulevard|dr(?:ive)?|"
    r"l(?:a)?ne?|c(?:our)?t|pl(?:ace)?|sq(?:uare)?|ter(?:race)?|p(?:ar)?kwa?y|h(?:igh)?wa?y|cir(?:cle)?|way|walk|row|broadway|plaza|plz)\b\.?"
)
_ADDRESS = re.compile(
    rf"{_STREET}(?:[^|\n]{{0,80}}?\b[A-Z]{{2}}\b(?:\s+\d{{5}})?|(?:,?\s*(?:apt|unit|#)\.?\s*[\w-]+)?)", re.IGNORECASE
)
_TOWNS = r"(?:,\s*(?:\d{4,5}(?:\s?[A-Z]{2})?\s+)?[^|\n,\d€£$]{2,40})*"
_EUROPEAN = re.compile(
    r"(?:[A-Z\u00c0-\u017d][\w.'-]*(?:straat|weg|laan|gracht|plein|kade|singel|dijk|stra(?:ß|ss)e|str\.|allee|platz|gasse)"
    r"|\b(?:[Cc]alle|[Aa]venida|[Pp]aseo|[Pp]laza|[Cc]arrer|[Rr]ue|[Vv]iale?|[Pp]iazza)\s+[^|\n\d]{3,50}?,?)"
    rf"\s+\d+(?:[\s-]?[A-Za-z]\b)?{_TOWNS}"
)
"""A street with its number behind it, as most of the continent writes it."""
_TAIL = re.compile(r"(?:^|,\s*|\s)[A-Z]{2}(?:\s+\d{5})?$")
_ADDRESS_NAMES = re.compile(r"address|adres|street|locality")
_TITLE_NAMES = re.compile(r"title|(?:^|[\s_-])name|heading|property-name")
RENT_NAMES = re.compile(r"pric(?:e|ing)|rent|huur|miete|alquiler|loyer")
_STRUCK_NAMES = re.compile(r"(?:^|[\s_-])(?:old|was|previous|original|strike|crossed)(?:$|[\s_-])")
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
    ("size", re.compile(r"\b(?:sq\.?\s?f\w*|square f\w+|size|area)\b", re.IGNORECASE)),
    ("available", re.compile(r"availab|move", re.IGNORECASE)),
    ("neighborhood", re.compile(r"neighbou?rhood", re.IGNORECASE)),
)
_PICTURES = ("src", "data-src", "data-lazy-src", "data-original")


def ancestors(element: Element) -> Iterator[Element]:
    """The element and all that it is in."""
    current: Element | None = element
    while current is not None:
        yield current
        current = current.parent


def fields_of(card: Element, document: Document, is_rent_element: Callable[[Element], bool]) -> dict[str, Any]:
    """The fields of a card's home, those that are told; `is_rent_element` knows the smallest elements that name one."""
    lines = card.lines()
    text = " | ".join(lines)
    url = link_of(card, document)
    fields = {
        "title": title_of(card),
        "url": url,
        "id": own_id(card) or _id_in(url),
        "address": address_of(card, text),
        "neighborhood": named(card, _HOOD_NAMES),
        "rent": rent_of(card, is_rent_element),
        "beds": next((line for line in lines if parse_beds(line)), ""),
        "baths": next((line for line in lines if parse_baths(line)), ""),
        "size": next((line for line in lines if parse_size(line)), ""),
        "available": match[0] if (match := _AVAILABLE.search(text)) else "",
        "images": picture_of(card, document),
    }
    told = {name: value for name, value in fields.items() if value}
    return columns_of(card) | told | labels_of(card)


def has_address(card: Element) -> bool:
    """Whether a block says where something is: by a name, or by a door and a street."""
    return address_of(card, " | ".join(card.lines())) != ""


def labels_of(card: Element) -> dict[str, str]:
    """What the card's own labels say: the words of a `dd` under those of its `dt`."""
    found: dict[str, str] = {}
    for holder in card.walk():
        for label, value in pairwise(holder.children):
            if label.tag == "dt" and value.tag == "dd" and value.text:
                field = next((field for field, words in _COLUMNS if words.search(label.text)), "")
                found.setdefault(field, value.text)
    found.pop("", None)
    return found


def columns_of(card: Element) -> dict[str, Any]:
    """What a table's head says of a row's cells: beds and baths are bare numbers there."""
    if card.tag != "tr" or card.parent is None:
        return {}
    table = next((one for one in ancestors(card) if one.tag == "table"), card.parent)
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


def rent_of(card: Element, is_rent_element: Callable[[Element], bool]) -> str:
    """The card's rent: what is named so, else the first that is told; on request where it says so, never struck out."""
    standing = list(visible_elements(card))
    named_so = [one for one in standing if one is not card and RENT_NAMES.search(one.names)]
    for element in (*named_so, *(one for one in standing if is_rent_element(one))):
        text = text_without_struck(element)
        if len(text) <= _LARGEST_LEAF and parse_rent(text) is not None:
            return text
    return ""


def visible_elements(card: Element) -> Iterator[Element]:
    """Everything in a card that is not struck out."""
    pending = [card]
    while pending:
        element = pending.pop()
        yield element
        pending.extend(child for child in reversed(element.children) if not is_struck(child))


def is_struck(element: Element) -> bool:
    """Whether what it says holds no more: a rent that was."""
    return element.tag in {"s", "del", "strike"} or _STRUCK_NAMES.search(element.names) is not None


def text_without_struck(element: Element) -> str:
    """Its text without what is struck out in it."""
    if not any(is_struck(one) for one in element.walk()):
        return element.text
    parts = [
        part if isinstance(part, str) else text_without_struck(part) for part in element.content if not _is_over(part)
    ]
    return " ".join(" ".join(parts).split())


def _is_over(part: Element | str) -> bool:
    return not isinstance(part, str) and is_struck(part)


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
    """Where it is: what is named an address, unless a door and a street in its words tell more."""
    named_so = named_address(card)
    if named_so[:1].isdigit() or _street_in(named_so):
        return named_so
    return _street_in(text) or named_so


def _street_in(text: str) -> str:
    match = _ADDRESS.search(text) or _EUROPEAN.search(text)
    return match[0].strip(" ,") if match else ""


def named_address(card: Element) -> str:
    """The words of the first element that is named an address."""
    for element in card.walk():
        if element is card or not (element.tag == "address" or _ADDRESS_NAMES.search(element.names)):
            continue
        if 0 < len(element.text) <= _LONGEST_LINE:
            return with_town(element)
        if not element.text and 0 < len(behind := " ".join(element.node.text(separator=" ").split())) <= _LONGEST_LINE:
            return behind  # a button's words, which are no text of the page but may be all there is
    return ""


def with_town(element: Element) -> str:
    """An address together with the town, state and postal code that stand in an element of their own behind it."""
    beside = element.parent.children if element.parent is not None else []
    after = next(iter(beside[beside.index(element) + 1 :]), None) if element in beside else None
    if after is None or _TAIL.search(element.text.strip(" ,")) or not _TAIL.search(after.text.strip()):
        return element.text
    return f"{element.text.rstrip(' ,')}, {after.text}" if _ADDRESS_NAMES.search(after.names) else element.text


def named(card: Element, names: re.Pattern[str]) -> str:
    """The words of the first element that is named so."""
    return next((one.text for one in card.walk() if one is not card and names.search(one.names)), "")[:100].strip("() ")


def link_of(card: Element, document: Document) -> str:
    """The address of the home's own page: the heading's link, the card's own, or the first."""
    anchors = [one for one in (*ancestors(card), *card.walk()) if one.tag == "a"]
    headings = [one for one in anchors if one.parent is not None and one.parent.tag in HEADINGS]
    for anchor in (*headings, *anchors):
        href = anchor.attributes.get("href") or ""
        if href and not href.startswith(_NO_PAGES) and not _SHARES.search(href):
            return document.absolute(href)
    return ""


_NO_PAGES = ("#", "mailto:", "tel:", "javascript:", "whatsapp:", "sms:")
_SHARES = re.compile(
    r"[/?&](?:share|sharer|print|printable|save|favou?rites?|compare)\b|[?&]print=|facebook\.com/|twitter\.com/|wa\.me/",
    re.IGNORECASE,
)
"""Links that do something with a home instead of showing it."""


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
