"""A product's GTIN where no label has an element of its own: in a sentence, or in a script of the page."""

import re
from collections.abc import Iterator

from tidemill.reading.document import Document
from tidemill.reading.identifiers import as_gtin
from tidemill.verticals.prices.reading.shown.hints import Hint
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout

_IN_TEXT = re.compile(
    r"\b(?:UPC|EAN|GTIN|ISBN|barcode)(?:[ -]?(?:8|1[0234]|A|code|number|no\.?))?\s{0,3}[:#]?\s{0,3}"
    r"(?P<code>\d(?:[ -]?\d){7,13})(?![\d-])",
    re.IGNORECASE,
)
_IN_SCRIPT = re.compile(
    r"""["'](?:upc|ean(?:13)?|gtin(?:8|12|13|14)?|barcode|isbn)\\?["']\s{0,3}:\s{0,3}\\?["']?(?P<code>\d{8,14})(?!\d)""",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d[\d -]{7}")
_LONGEST_TEXT, _MOST_TEXTS = 5_000, 2_000


def written_gtin(layout: PageLayout, document: Document) -> tuple[str, str]:
    """The one number with a right check digit that the page's words, else its scripts, call a GTIN; '' if several.

    A page that names several tells those of other products, or of variants, and nobody can tell which is its own.
    """
    for place, found in (("text", _in_texts(layout)), ("script", _in_scripts(document))):
        codes = dict.fromkeys(code for written in found if (code := as_gtin(written)))
        if len(codes) == 1:
            return next(iter(codes)), place
        if codes:
            return "", ""
    return "", ""


def _in_texts(layout: PageLayout) -> Iterator[str]:
    for text_node in layout.texts[:_MOST_TEXTS]:
        if not text_node.hints & Hint.ASIDE and _DIGITS.search(text_node.text):
            yield from (match["code"] for match in _IN_TEXT.finditer(text_node.text[:_LONGEST_TEXT]))


def _in_scripts(document: Document) -> Iterator[str]:
    for node in document.css("script"):
        attributes = node.attributes
        if attributes.get("src") or "ld+json" in (attributes.get("type") or ""):
            continue
        text = node.text(deep=True) or ""
        lowered = text.lower()
        if any(name in lowered for name in _NAMES):
            yield from (match["code"] for match in _IN_SCRIPT.finditer(text))


_NAMES = ("upc", "gtin", "barcode", "isbn", "ean1", 'ean"', "ean'")
"""What scripts call such a number; to search for words takes a tenth of what a pattern takes."""
