"""What a page writes beside a label (`SKU: AB-12`, `Artikelnummer 1126`, `Brand: Acme`) or in `data-` attributes."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tidemill.reading.document import Document
from tidemill.reading.identifiers import as_gtin
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.landmarks import Landmarks, PageWord
from tidemill.verticals.prices.reading.marks import Mark

_SKU = (
    r"SKU|item (?:no\.?|number|#|code|id)|product (?:code|no\.?|number|id)|part (?:no\.?|number)|"
    r"article (?:no\.?|number)|stock code|catalog(?:ue)? (?:no\.?|number)|style (?:no\.?|#)|"
    r"art(?:ikel)?\.?[ -]?(?:nr|nummer|no|code)\.?|"
    r"bestel(?:l)?[ -]?(?:nr|nummer)\.?|produkt(?:nummer|nr\.?|kod)|vare(?:nr|nummer)\.?|tuote(?:numero|koodi)|"
    r"r[ée]f(?:[ée]rence)?\.?|referencia|referência|riferimento|"
    r"c[óo]d(?:igo|ice)?\.?(?: (?:do produto|prodotto|articolo|art\.?|produs))?|"
    r"symbol|kod(?: produktu| towaru)?|kód(?: produktu| zboží)?|cikkszám|артикул|код товара|ürün kodu|"
    r"商品番号|品番|型番|商品コード|商品编号|상품코드"
)
_GTIN = (
    r"EAN(?:[ -]?(?:13|code))?|GTIN(?:[ -]?\d+)?|UPC(?:[ -]?code)?|ISBN(?:[ -]?1[03])?|"
    r"barcode|streepjescode|JAN(?:コード)?"
)
_MPN = r"MPN|manufacturer part (?:no\.?|number|#)|mfr\.? part (?:no\.?|number|#)|fabrikantcode|herstellernummer"
_BRAND = (
    r"brand(?: name)?|manufacturer|manufactured by|merk|marke|hersteller|marque|fabricant|marca|produttore|marka|"
    r"producent|značka|výrobce|"
    r"varumärke|mærke|merke|tuotemerkki|márka|бренд|производитель|ブランド|メーカー(?:名)?"
)
_LABELS = {
    name: re.compile(rf"(?:{words})\s*(?P<colon>[:：#.]*)\s*(?P<value>.*)", re.IGNORECASE)
    for name, words in (("gtin", _GTIN), ("mpn", _MPN), ("sku", _SKU), ("brand", _BRAND))
}
_PARTED = re.compile(r"\s[|•·]\s")
_CODE = re.compile(r"(?=[^\d]*\d)[A-Za-z0-9][A-Za-z0-9._/-]{1,39}|[A-Z]+(?:[._/-][A-Z]+)+")
_LEADING = re.compile(rf"^(?:{_SKU})\s*[:：#]*\s+(?=\S+$)", re.IGNORECASE)
_TRAILING = re.compile(r"\s*[\[(|,-]?\s*\b(?:SKU|Art\.?-?Nr\.?|Item (?:#|No\.?))\s*[:#]?\s*[\w./-]*\d[\w./-]*\W?$")
_ATTRIBUTES = {
    "sku": ("data-product-sku", "data-sku"),
    "gtin": ("data-product-ean", "data-ean", "data-gtin", "data-upc"),
    "brand": ("data-product-brand", "data-brand"),
}
_LONGEST_LINE, _LONGEST_BRAND = 80, 40


def labelled_in(found: Landmarks, document: Document) -> dict[str, tuple[str, str]]:
    """The identifiers and the brand that stand beside their labels, each with where; the first of each counts."""
    told: dict[str, tuple[str, str]] = {}
    for index, word in enumerate(found.words):
        if len(word.text) > _LONGEST_LINE or word.marks & Mark.ASIDE:
            continue
        for name, value in _told_at(found.words, index, word):
            told.setdefault(name, (value, f"label: {squash(word.text)[:40]}"))
    if "brand" not in told and (brand := _named_brand(found)) is not None:
        told["brand"] = brand
    for name, ways in _ATTRIBUTES.items():
        if name not in told and (held := _held(document, name, ways)) is not None:
            told[name] = held
    return told


def _named_brand(found: Landmarks) -> tuple[str, str] | None:
    """What an element by the heading says that is named for the brand, in one word or a few."""
    for notice in found.brands:
        if notice.marks & (Mark.ASIDE | Mark.HIDDEN) or abs(notice.order - found.heading_order) > _BY_THE_HEADING:
            continue
        text = _SAID_BEFORE.sub("", squash(notice.node.text(separator=" ")))
        if 1 < len(text) <= _LONGEST_BRAND and not _DIGITS_ONLY.fullmatch(text):
            return text, f"named: {notice.names[:40]}"
    return None


_BY_THE_HEADING = 15
_SAID_BEFORE = re.compile(
    rf"^(?:(?:{_BRAND})\s*[:：]\s*|(?:by|von|door|par|di|av|af|shop all|alles van|more from)\s+|"
    r"visit the (?=.* store$))|(?<=\w) store$",
    re.IGNORECASE,
)
_DIGITS_ONLY = re.compile(r"[\W\d_]+")


def _told_at(words: Sequence[PageWord], index: int, word: PageWord) -> Iterator[tuple[str, str]]:
    for part in _PARTED.split(word.text):
        label = _label_in(part)
        if label is None:
            continue
        name, beside = label
        after = words[index + 1].text if index + 1 < len(words) else ""
        if value := _believed(name, beside or squash(after).lstrip(":： ")):
            yield name, value


@lru_cache(maxsize=8_192)
def _label_in(text: str) -> tuple[str, str] | None:
    """Which label a line begins with, and what stands behind it; a shop's menus are asked about on every page.

    A brand is written behind a colon: `Brand new in box` names none.
    """
    line = squash(text)
    for name, label in _LABELS.items():
        match = label.fullmatch(line)
        if match is not None:
            return None if name == "brand" and match["value"] and not match["colon"] else (name, match["value"])
    return None


def _believed(name: str, value: str) -> str:
    """The value, if it is of the kind that its label promises; '' if not."""
    if name == "gtin":
        return as_gtin(value) or ""
    if name == "brand":
        return value if 1 < len(value) <= _LONGEST_BRAND and not value.endswith((":", "：")) else ""
    first = value.split(" ", 1)[0].rstrip(",;|") if value else ""
    return first if _CODE.fullmatch(first) else ""


def _held(document: Document, name: str, ways: Sequence[str]) -> tuple[str, str] | None:
    """What one kind of attribute says, if the page says it once: lists of products repeat theirs."""
    for way in (way for way in ways if way in document.markup):
        values = {squash(node.attributes.get(way) or "") for node in document.css(f"[{way}]")[:20]} - {""}
        if len(values) == 1:
            value = values.pop()
            held = (as_gtin(value) or "") if name == "gtin" else value[:_LONGEST_BRAND]
            return (held, f"[{way}]") if held else None
    return None


def without_label(code: str) -> str:
    """A code without the label that stands in one string with it: `SKU 00012` is 00012."""
    return _LEADING.sub("", code)


def without_code(title: str) -> str:
    """A title without the article's number that a heading may carry behind it."""
    return _TRAILING.sub("", title) or title
