"""The article's number that a shop writes into the address of its page."""

import re
from urllib.parse import parse_qsl, unquote, urlsplit

from tidemill.reading.document import Document

_PARAMETERS = frozenset(
    [
        "sku",
        "childsku",
        "skuid",
        "sku_id",
        "pid",
        "productid",
        "product_id",
        "itemid",
        "item_id",
        "variant",
        "variantid",
    ]
)
_FILE = re.compile(r"\.(?:html?|php|aspx?|jsp)$", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"(?:^|[-_/.])(?:p|iid-|id-)?(?P<code>\d{5,14})$")
_FIRST_NUMBER = re.compile(r"^(?P<code>\d{5,14})(?:[-_.]|$)")
_MOST_PARTS = 8


def code_in_address(document: Document) -> str:
    """The number of the article, if the address ends in one or names one, and the page itself repeats it; else ''.

    A number that only the address has may be a category's or a campaign's.
    """
    parts = urlsplit(document.url)
    named = [value for name, value in parse_qsl(parts.query)[:20] if name.lower() in _PARAMETERS and value.isalnum()]
    segments = [_FILE.sub("", unquote(part)) for part in parts.path.split("/") if part][-_MOST_PARTS:]
    ending = [match["code"] for part in reversed(segments[-2:]) if (match := _LAST_NUMBER.search(part))]
    leading = [match["code"] for part in segments[-1:] if (match := _FIRST_NUMBER.search(part))]
    for code in dict.fromkeys((*named, *ending, *leading)):
        if _is_repeated(code, document.markup):
            return code
    return ""


def _is_repeated(code: str, markup: str) -> bool:
    """Whether the page names the number by itself: in an attribute, a script or its text, not within an address."""
    found = markup.find(code)
    while found >= 0:
        before, after = markup[found - 1 : found], markup[found + len(code) : found + len(code) + 1]
        if before in _EDGES and after in _EDGES:
            return True
        found = markup.find(code, found + len(code))
    return False


_EDGES = frozenset("\"'>< :;,=()[]{}\n\t#&")
