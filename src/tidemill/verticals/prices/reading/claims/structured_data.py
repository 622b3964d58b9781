"""The page's product by its structured data: every block and item that could be it, the likeliest first."""

from collections.abc import Sequence
from contextlib import suppress

from tidemill.core.identity import normalized
from tidemill.core.record import Strategy
from tidemill.core.urls import BadUrl, canonicalize
from tidemill.reading import jsonld, microdata
from tidemill.reading.document import Document
from tidemill.verticals.prices.reading.claims import schema_products
from tidemill.verticals.prices.reading.claims.claim import PriceClaim

_JSONLD, _REPAIRED, _MICRODATA = 0.95, 0.88, 0.9
_LISTED = ("itemListElement", "isRelatedTo", "isSimilarTo", "isAccessoryOrSparePartFor", "related", "isConsumableFor")
_SEVERAL, _A_WORD, _MOST_OF_IT = 3, 3, 0.6
_NONE_WITHIN: frozenset[str] = frozenset()


def structured_claims(document: Document) -> tuple[list[PriceClaim], int]:
    """The claims of the page's own product, best first, and how many products it lists beside."""
    found, listed = _jsonld(document)
    items, others = _microdata(document)
    claims = [*_main_product(found, document), *_main_product(items, document)]
    return claims, listed + others + max(0, len(found) - 1) + max(0, len(items) - 1)


def _jsonld(document: Document) -> tuple[list[PriceClaim], int]:
    blocks = jsonld.blocks(document)
    known = {name: item for block in blocks for name, item in jsonld.objects_by_id(block.value).items()}
    claims, listed = [], 0
    for block in blocks:
        for path, item in jsonld.objects(block.value, schema_products.is_product, _NONE_WITHIN):
            if any(key in path for key in _LISTED):
                listed += 1
                continue
            confidence = _REPAIRED if block.repaired else _JSONLD
            origin = f"json-ld/{block.index}{path}"
            claims.append(schema_products.claim_of(item, origin, Strategy.JSONLD, confidence, document.absolute, known))
    return claims, listed


def _microdata(document: Document) -> tuple[list[PriceClaim], int]:
    claims, listed = [], 0
    for index, item in enumerate([*microdata.items(document), *microdata.rdfa_items(document)]):
        for path, product in jsonld.objects(item, schema_products.is_product, _NONE_WITHIN):
            if any(key in path for key in _LISTED):
                listed += 1
                continue
            origin = f"microdata/{index}{path}"
            claims.append(
                schema_products.claim_of(product, origin, Strategy.MICRODATA, _MICRODATA, document.absolute, {})
            )
    return claims, listed


def _main_product(claims: Sequence[PriceClaim], document: Document) -> list[PriceClaim]:
    """The claims about the page's own product: those that match its title or address best, and the bare ones.

    Of several products, none of which the page is titled after, none is its own: it lists them.
    """
    if not claims:
        return []
    headings = _headings(document)
    scored = [(_match_score(claim, document, headings), -index, claim) for index, claim in enumerate(claims)]
    _, _, best = max(scored, key=lambda each: each[:2])
    titles = {normalized(claim.fields.get("title", "")) for claim in claims} - {""}
    if len(titles) >= _SEVERAL and not _is_titled_after(best, document, headings):
        return []
    title = normalized(best.fields.get("title", ""))
    same = [
        claim
        for claim in claims
        if claim is not best and normalized(claim.fields.get("title", "")) in {title, ""} and claim.price is not None
    ]
    return [best, *same]


def _match_score(claim: PriceClaim, document: Document, headings: Sequence[str]) -> float:
    title = normalized(claim.fields.get("title", ""))
    alike = title and any(title in one or (len(one) > _A_WORD and one in title) for one in headings)
    score = 2.0 * bool(alike) + 1.0 * bool(title and title in normalized(document.title))
    score += 1.0 * (claim.price is not None) + 0.5 * bool(claim.fields.get("availability"))
    return score + 1.5 * _has_page_address(claim, document)


def _is_titled_after(claim: PriceClaim, document: Document, headings: Sequence[str]) -> bool:
    """Whether the page is plainly this product's: by its address, or by a heading that is its title and little else."""
    title = normalized(claim.fields.get("title", ""))
    if _has_page_address(claim, document):
        return True
    return any(
        title in one or (one in title and len(one) > _MOST_OF_IT * len(title))
        for one in (*headings, normalized(document.title))
        if one and title
    )


def _has_page_address(claim: PriceClaim, document: Document) -> bool:
    url = claim.fields.get("url", "")
    if not url or not document.url:
        return False
    with suppress(BadUrl):
        return canonicalize(url) == canonicalize(document.url)
    return False


def _headings(document: Document) -> list[str]:
    return [normalized(node.text(separator=" ")) for node in document.css("h1")[:5]]
