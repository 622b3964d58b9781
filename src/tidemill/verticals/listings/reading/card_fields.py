"""What one result card says of its home, read off its names, labels and words."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, pairwise
from typing import Any

from tidemill.reading.document import Document
from tidemill.reading.outline import HEADINGS, Element
from tidemill.verticals.listings.reading.rent import has_rent, parse_rent
from tidemill.verticals.listings.reading.rooms import parse_baths, parse_beds, parse_size

_LARGEST_LEAF, _LONGEST_LINE = 160, 200

_STREET = (
    r"\d+[A-Za-z]?(?:-\d+)?\s+(?!(?:(?:bed|bath)(?:room)?|bd|br|bdrm|room|month|week|min(?:ute)?|mile|block|day|hour|unit|car)s?\b|ba\b)(?:[NSEW]\.?\s+)?(?:[\w'.]+\s+){0,4}?(?:st(?:reet)?|ave(?:nue)?|r(?:oa)?d|blvd|boulevard|dr(?:ive)?|"
    r"l(?:a)?ne?|c(?:our)?t|pl(?:ace)?|sq(?:uare)?(?!\.?\s*(?:f|m))|ter(?:race)?|p(?:ar)?kwa?y|h(?:igh)?wa?y|cir(?:cle)?|way|walk|row|broadway|plaza|plz)\b\.?"
)
_ADDRESS = re.compile(
    rf"{_STREET}(?:[^|\n]{{0,80}}?\b[A-Z]{{2}}\b(?:\s+\d{{5}})?|(?:,?\s*(?:apt|unit|#)\.?\s*[\w-]+)?)", re.IGNORECASE
)
_TOWNS = r"(?:,\s*(?:\d{4,5}(?:\s?[A-Z]{2})?\s+)?[^|\n,\d€£$]{2,40})*"
_EUROPEAN = re.compile(
    r"(?:(?:(?!(?i:studio|ap+artement|kamer|huis|woning|flat|wohnung|zimmer)\b)[A-Z\u00c0-\u017d][\w.'-]+"
    r"\s(?:(?:de|den|der|het|'t|van|ten|ter|von|zu|zum|zur|am|an|im)\s){1,3})?"
    r"[A-Z\u00c0-\u017d][\w.'-]*(?:straat|weg|laan|gracht|plein|kade|singel|dijk|stra(?:ß|ss)e|str\.|allee|platz|gasse|steeg|hof|ring|ufer|damm|park|"
    r"gatan|v\u00e4gen|gata|veien|vei|vej|gade|katu|kuja)"
    r"|\b(?:ul|al|os|pl)\.\s[^|\n\d]{2,50}?"
    r"|[A-Z\u00c0-\u017d][\w.'-]+\s(?:Stra(?:ß|ss)e|Str\.|Allee|Platz|Weg|Ring|Damm|Ufer|Gasse)"
    r"|\b(?:[Cc]alle|[Aa]venida|[Pp]aseo|[Pp]laza|[Cc]arrer|[Rr]ue|[Vv]i(?:a|ale)|[Pp]iazza|[Cc]orso|[Ll]argo|[Rr]ua)"
    r"\s+[^|\n\d]{3,50}?,?)"
    rf"\s+\d+(?:[\s-]?[A-Za-z]\b)?{_TOWNS}"
)
"""A street with its number behind it, as most of the continent writes it."""
_FRENCH = re.compile(
    r"\b\d{1,4}(?:\s?(?:bis|ter))?,?\s(?:rue|avenue|av\.|boulevard|(?-i:[Bb]d\.?)|place|quai|impasse|all[ée]e|chemin|route|cours)\s"
    rf"[^|\n\d]{{3,50}}?(?:,?\s*\d{{5}}\s+[^|\n,\d€£$]{{2,40}}|{_TOWNS})(?=\s*(?:\||$))",
    re.IGNORECASE,
)
"""A number before the street, then the postal code and the town."""
_POSTAL_TOWN = re.compile(r"\d{4}\s?[A-Z]{2}\s+[^|\n,\d€£$]{2,40}|\d{4,5}\s+[A-Z\u00c0-\u017d][^|\n,\d€£$]{1,40}")
"""The postal code and town by themselves: Dutch, then those with four or five digits."""
_TAIL = re.compile(r"(?:^|,\s*|\s)[A-Z]{2}(?:\s+\d{5})?$")
_ADDRESS_NAMES = re.compile(r"address|adres|street|locality")
_TITLE_NAMES = re.compile(r"title|(?:^|[\s_-])name|heading|property-name")
RENT_NAMES = re.compile(r"pric(?:e|ing)|rent|huur|miete|alquiler|loyer")
_STRUCK_NAMES = re.compile(r"(?:^|[\s_-])(?:old|was|previous|original|strike|crossed)(?:$|[\s_-])")
_HOOD_NAMES = re.compile(r"neighbou?rhood|district|buurt|wijk|(?:^|[\s_-])(?:hood|location|area)(?:$|\s)")
_AVAILABLE = re.compile(r"\b(?:available|beschikbaar|move[- ]in)\b[^|\n]{0,40}", re.IGNORECASE)
_ID_ATTRIBUTES = (
    "data-listingid", "data-listing-id", "data-property-id", "data-propertyid", "data-pid", "data-id", "data-zpid",
    "data-key",
)  # fmt: skip
_ANY_ID = re.compile(
    r"data-(?!.*(?:agen|broker|user|owner|member|author|photo|image|img|gallery|slide|camp|track|test|page|search|categ|"
    r"group|parent|cookie|session|layer|widget|form|store|shop|office|compan|brand|city|region|area|qa|react|v-|cy))"
    r"[a-z-]*id"
)
"""Attributes that a site numbers its homes by; those of agents, pictures and tests are named for them."""
_NUMBERED = re.compile(r"(?=.*\d)[\w-]{4,40}")
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
    address = address_of(card, text)
    fields = {
        "title": title_of(card),
        "url": url,
        "id": own_id(card) or _id_in(url),
        "address": address,
        "neighborhood": neighborhood_of(card) or ("" if address else town_line(card)),
        "rent": rent_of(card, is_rent_element),
        "beds": next((line for line in lines if parse_beds(line)), ""),
        "baths": next((line for line in lines if parse_baths(line)), ""),
        "size": next((line for line in lines if parse_size(line)), ""),
        "available": match[0] if (match := _AVAILABLE.search(text)) else "",
        "images": picture_of(card, document),
    }
    fields["title"] = fields["title"] or fields["neighborhood"]
    told = {name: value for name, value in fields.items() if value}
    return rooms_above(card, told) | columns_of(card) | told | labels_of(card)


def neighborhood_of(card: Element) -> str:
    """What is named a neighbourhood, a district or an area, and is no measure."""
    told = named(card, _HOOD_NAMES)
    return "" if parse_size(told) or has_rent(told) else told


def town_line(card: Element) -> str:
    """A line or an element with a postal code and a town, or a street, and no more: `10437 Prenzlauer Berg`."""
    lines = [*card.lines(), *(one.text for one in card.walk() if not one.children)]
    return next((line for shape in (_TOWN_LINE, _STREET_LINE) for line in lines if shape.fullmatch(line)), "")


_TOWN_LINE = re.compile(
    r"(?:\d{5}|\d{4}\s?[A-Z]{2}|\d{3}\s\d{2}|\d{2}-\d{3})\s[A-Z\u00c0-\u017d][^\d€£$]{2,60}|"
    r"[A-Z\u00c0-\u017d](?:[^\d€£$|]|\d{1,2}(?:er?|[eè]me)\b){1,40}\s\(?\d{5}\)?(?:\s[^\d€£$]{2,40})?"
)

_STREET_LINE = re.compile(
    r"(?:[A-Z\u00c0-\u017d][\w.'-]*\s(?:(?:de|den|der|van|het|'t)\s){0,2}){0,2}[A-Z\u00c0-\u017d][\w.'-]*"
    r"(?:straat|weg|laan|gracht|plein|kade|singel|dijk|steeg|stra(?:ß|ss)e|str\.|allee|platz|gasse|gatan|v\u00e4gen|gata|vej|"
    r"gade|katu)(?:,\s[^\d€£$]{2,40})?"
)
"""A street without a door, alone on its line: `Oude Ebbingestraat`."""


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


def rooms_above(card: Element, told: Mapping[str, Any]) -> dict[str, Any]:
    """The rooms that the heading over a table of units tells for all its rows: `1 Bedroom, 1 Bathroom`."""
    if card.tag != "tr" or told.keys() & {"beds", "address"}:
        return {}
    for element in islice(ancestors(card), _LEVELS_TO_HEADING):
        siblings = element.parent.children if element.parent is not None and element.tag != "tr" else []
        at = siblings.index(element) if siblings[:_MOST_TABLES].count(element) else 0
        for before in reversed(siblings[max(0, at - _NEAR_HEADING) : at]):
            if len(before.text) <= _LONGEST_LINE and parse_beds(before.text):
                baths = {"baths": before.text} if parse_baths(before.text) else {}
                return {"beds": before.text, **baths}
    return {}


_BY_THE_HEAD = 60
"""Elements of a table among which its head stands; more would be looked at again for each row."""
_LEVELS_TO_HEADING, _NEAR_HEADING, _MOST_TABLES = 5, 2, 60


def columns_of(card: Element) -> dict[str, Any]:
    """What a table's head says of a row's cells: beds and baths are bare numbers there."""
    if card.tag != "tr" or card.parent is None:
        return {}
    table = next((one for one in ancestors(card) if one.tag == "table"), card.parent)
    head = next(
        (
            one
            for one in islice(table.walk(), _BY_THE_HEAD)
            if one.tag == "tr" and any(cell.tag == "th" for cell in one.children)
        ),
        None,
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
    told = next((one.text for one in likely if len(one.text) <= _LONGEST_LINE), "")
    return told or next(filter(None, map(_said_of_link, (*card.walk(), *ancestors(card)))), "")


def _said_of_link(element: Element) -> str:
    """What a link says of itself to those who cannot see it."""
    said = (element.attributes.get("aria-label") or element.attributes.get("title") or "") if element.tag == "a" else ""
    return " ".join(said.split())[:_LONGEST_LINE]


def address_of(card: Element, text: str) -> str:
    """Where it is: what is named an address, unless a door and a street in its words tell more."""
    named_so = named_address(card)
    if named_so[:1].isdigit() or _street_in(named_so):
        return named_so
    return _street_in(text) or named_so


def _street_in(text: str) -> str:
    match = _FRENCH.search(text) or _ADDRESS.search(text) or _EUROPEAN.search(text)
    if match is None:
        return _by_town(text)
    town = _POSTAL_TOWN.match(text[match.end() :].lstrip(" |,")) if not _CODE_IN.search(match[0]) else None
    return match[0].strip(" ,") + (f", {town[0].strip()}" if town else "")


_KINDS_OF_HOME = r"(?i:studio|appartement|apartment|kamer|huis|woning|flat|house|room|maison|casa|piso|wohnung|zimmer)"
_BY_POSTAL_CODE = re.compile(
    r"(?<![^|\n])\s*(?:[^|\n,\d€£$]{2,40},\s*)?(?P<street>[A-Z\u00c0-\u017d][^|\n,\d€£$]{2,40}"
    r"\s\d{1,4}(?:[\s-]?[A-Za-z](?![a-z]))?)"
    r"(?:\s*[,|]\s*|\s)\s*(?P<town>(?:\d{4}\s?[A-Z]{2}|\d{4,5})\s[A-Z\u00c0-\u017d][^|\n,\d€£$]{1,40})"
)
"""A street with its number, whatever it is called, before a postal code and a town."""
_BRITISH = re.compile(
    r"(?<![^|\n])\s*(?:\d{1,4}[a-zA-Z]?,?\s)?[A-Z][^|\n€£$]{3,60}?[, ]\s?"
    r"[A-Z]{1,2}\d[A-Z\d]?(?:\s\d[A-Z]{2})?(?=\s*(?:\||$))"
)
"""A line that ends in a British postcode, whole or its first half."""
_IN_TITLE = re.compile(
    rf"(?<![^|\n])\s*{_KINDS_OF_HOME}\s(?P<place>[A-Z\u00c0-\u017d][\w.'-]+(?:\s[A-Z\u00c0-\u017d(][\w.')-]+){{0,3}}"
    r"(?:\s\d{1,4}[a-zA-Z]?)?,\s[A-Z\u00c0-\u017d][^|\n,\d€£$]{1,30})(?=\s*(?:\||$))",
)
"""A kind of home, a street and a town: `Kamer Singelstraat, Groningen`."""


def _by_town(text: str) -> str:
    """An address that is known by its postal code or town, where the street's name says nothing."""
    if (match := _BY_POSTAL_CODE.search(text)) is not None:
        return f"{match['street']}, {match['town'].strip()}"
    if (match := _BRITISH.search(text)) is not None:
        return match[0].strip(" ,|")
    match = _IN_TITLE.search(text) or _NUMBERED_STREET.search(text)
    return match["place"].strip() if match is not None else ""


_NUMBERED_STREET = re.compile(
    rf"(?<![^|\n])\s*(?!{_KINDS_OF_HOME})(?P<place>[A-Z\u00c0-\u017d][^|\n,\d€£$:]{{2,40}}\s\d{{1,4}}[A-Za-z]?,\s"
    r"[A-Z\u00c0-\u017d][^|\n\d€£$:]{2,40})(?=\s*(?:\||$))"
)
"""A line that is a name, a number and a town: `V\u00e1ci utca 1, Budapest`."""


_CODE_IN = re.compile(r"\b\d{4}\s?[A-Z]{2}\b|\b\d{5}\b|,\s*\d{4}\b")
"""A postal code, which an address that has one already does not take from the next line."""


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
    for element in (card, *card.children):
        for name, value in element.attributes.items():
            if value and _ANY_ID.fullmatch(name) and _NUMBERED.fullmatch(value.strip()):
                return value.strip()
    return ""


def _id_in(url: str) -> str:
    path = url.partition("?")[0].partition("#")[0]
    if first := _ID_BEFORE_OTHERS.search(path):
        return first[1]
    match = _ID_IN_ADDRESS.search(url)
    if match and any(letter.isdigit() for letter in match[1]):
        return match[1]
    inside = _ID_IN_SLUG.search(path) or _ID_BETWEEN.search(path)
    return inside[1] if inside else ""


_ID_IN_SLUG = re.compile(r"/[a-z]+-(\d{5,10})-[^/\d]*[^/]*/?$", re.IGNORECASE)
"""A number behind the kind of home, before the street: `/appartement-81319-keizersgracht-1/`."""
_ID_BEFORE_OTHERS = re.compile(r"/(\d{6,})(?:-\d{1,6}){1,3}/?$")
"""A long number before those of its category and place: `/281117710-203-3331`."""
_ID_BETWEEN = re.compile(r"/(\d{5,}|(?=[a-z]*\d[a-z]*\d)(?=\d*[a-z])[a-z0-9]{6,12})/[^/]+/?$", re.IGNORECASE)
"""A number or a code that is all of the part before the last: `/b0f1a1c2/witte-de-withstraat`."""


def picture_of(card: Element, document: Document) -> list[str]:
    """The addresses of the card's pictures, the placeholders left out."""
    found = []
    for element in card.walk():
        if element.tag == "img":
            source = next((one for name in reversed(_PICTURES) if (one := element.attributes.get(name))), "")
            if source and not source.startswith("data:") and (whole := document.absolute(source)):
                found.append(whole)
    return list(dict.fromkeys(found))[:10]
