"""The article's number that a shop writes into the address of its page."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

from tidemill.reading.document import Document

_FILE = re.compile(r"\.(?:html?|php|aspx?|jsp|cfm|htm[lx]?|do)$", re.IGNORECASE)
_PARAMETERS = frozenset(
    """
    id_product idproduct id_prod idprod id_article idarticle articleid article_id
    sku childsku skuid sku_id skucode pid productid product_id prodid prod_id itemid item_id itemno item_no itemcode
    variant variantid variant_id goodsno goods_no goodsid goods_id goodscode prdno prdid prdcode artno artnr artikel
    artikelnummer article articleno productcode product_code stylecode modelcode asin dealid
    """.split()  # noqa: SIM905 - a table of words is read by lines
)
"""What shops call the number of the article in the query of its address."""
_VAGUE_PARAMETERS = frozenset({"id", "p", "code", "item", "product", "art", "no", "nr", "num"})
"""Names that may be those of anything: their values must be called an article's number by the page."""

_LAST_NUMBER = re.compile(r"(?:^|[-_/.,~])(?:p|iid-|id-?|prd-?|a-|i\.)?(?P<code>\d{5,14})$", re.IGNORECASE)
_FIRST_NUMBER = re.compile(r"^(?P<code>\d{5,14})(?:[-_.,]|$)")
_OWN_NUMBER = re.compile(r"[a-z][-_.,/](?:p|id-?|a-)?(?P<code>\d{6,14})$", re.IGNORECASE)
_WHOLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{2,23}")
_LAST_CODE = re.compile(
    r"(?:^|[-_.,~])(?:p-?|id-?|prd-?|art-?)?(?P<code>(?=[A-Za-z]*\d)[A-Za-z0-9]{3,20}(?:-\d{2,5})?)$"
)
_LAST_PARTS = re.compile(r"(?:^|[-_.,~])(?P<code>(?=[A-Za-z]*\d)[A-Za-z0-9]{2,12}[-_](?=[A-Za-z]*\d)[A-Za-z0-9]{2,8})$")
_MOST_PARTS, _MOST_CODES = 8, 12

_NAMED = re.compile(
    r"(?:sku|(?:prod(?:uct)?|item|goods|art(?:icle|ikel)?|variant|variation|model|style|master|deal|offer|listing|ad|"
    r"entity|prd|erp|catalog)[\s_.-]*(?:id(?:entifier)?|no|nr|number|nummer|num|code|key|ref(?:erence)?)|asin|mpn|"
    r"id[_-]?(?:prod(?:uct)?|article|item|variant)|reference|artikelnummer|artnr|data-(?:id|product|item|code|pid)|(?<![a-z])pid|product)"
    r"[\"']?\]?\s*(?:[:=#]|,\s*[\"']?value[\"']?\s*:|[\"']?\s+value\s*=|[\"']?\s+content\s*=|</\w+>\s*<\w+[^<>]*>)"
    r"[\s\"'\[]*$",
    re.IGNORECASE,
)
"""What stands right before a value that a page calls the number of its article: in scripts, attributes and labels."""
_LABEL_WIDTH = 80


def code_in_address(document: Document) -> str:
    """The code of the article, if the address ends in one or names one, and the page itself repeats it; else ''.

    A number that only the address has may be a category's or a campaign's. A long number counts when the page has it
    by itself anywhere; a short one, or one with letters, must be called the article's number there.
    """
    codes = dict.fromkeys(_codes(document.url))
    found = [(code, _repeated(code, document.markup)) for code in list(codes)[:_MOST_CODES]]
    called = next((code for code, repeated in found if repeated == _CALLED), "")
    alone = next((code for code, repeated in found if repeated and _is_long_number(code)), "")
    return called or alone or _number_of_own_address(document)


def _number_of_own_address(document: Document) -> str:
    """The long number that ends the address that the page calls its own: no campaign's or session's stands there."""
    path = urlsplit(document.url).path
    node = document.first("link[rel=canonical]")
    own = urlsplit(document.absolute(node.attributes.get("href") or "")).path if node is not None else ""
    match = _OWN_NUMBER.search(_FILE.sub("", path.rstrip("/")))
    is_own = own.rstrip("/") == path.rstrip("/") or _links_to_itself(document, path)
    return match["code"] if match and is_own else ""


def _links_to_itself(document: Document, path: str) -> bool:
    """Whether a link on the page leads to the page's own path, without a query."""
    parts = urlsplit(document.url)
    return any(f'href="{start}{path}"' in document.markup for start in ("", f"{parts.scheme}://{parts.netloc}"))


def _codes(url: str) -> Iterator[str]:
    """What may be the article's code in an address, the likeliest first."""
    parts = urlsplit(url)
    query = [(name.lower(), value) for name, value in parse_qsl(parts.query)[:20] if _WHOLE.fullmatch(value)]
    yield from (value for name, value in query if name in _PARAMETERS)
    segments = [_FILE.sub("", unquote(part)) for part in parts.path.split("/") if part][-_MOST_PARTS:]
    yield from (match["code"] for part in reversed(segments[-2:]) if (match := _LAST_NUMBER.search(part)))
    yield from (match["code"] for part in segments[-1:] if (match := _FIRST_NUMBER.search(part)))
    for part in reversed(segments[-2:]):
        yield from (match["code"] for shape in (_LAST_PARTS, _LAST_CODE) if (match := shape.search(part[-40:])))
    yield from (part for part in reversed(segments[-3:]) if _WHOLE.fullmatch(part) and _has_digit(part))
    yield from (value for name, value in query if name in _VAGUE_PARAMETERS and _has_digit(value))


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))


def _is_long_number(code: str) -> bool:
    return code.isdecimal() and len(code) >= _LONG


_LONG = 5
_ALONE, _CALLED = 1, 2
"""How a page repeats a code: by itself, or called the number of an article."""


def _repeated(code: str, markup: str) -> int:
    """How the page repeats a code outside its addresses: 0 if it does not."""
    how, found = 0, markup.find(code)
    while found >= 0:
        end = found + len(code)
        if markup[found - 1 : found] in _EDGES and markup[end : end + 1] in _EDGES:
            if _NAMED.search(markup, max(0, found - _LABEL_WIDTH), found):
                return _CALLED
            how = _ALONE
        found = markup.find(code, end)
    return how


_EDGES = frozenset("\"'>< :;,=()[]{}\n\t#&")
