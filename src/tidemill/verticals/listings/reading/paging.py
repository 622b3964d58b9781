"""How many homes a site says there are, and where its list goes on, beyond what every list says alike."""

import re

from tidemill.reading import pagination
from tidemill.reading.document import Document
from tidemill.reading.selectors import Spec, pick
from tidemill.reading.text import squash

_NUMBER = r"(?<![\d$€£.,#-])(\d{1,3}(?:,\d{3})+|\d{1,7})"
_SHOWING = re.compile(rf"\b(?:showing|viewing)\b[^.|]{{0,30}}?\bof\s+(?:about\s+)?{_NUMBER}", re.IGNORECASE)
_COUNTED = re.compile(
    rf"{_NUMBER}\s+(?:[A-Za-z]+\s+){{0,3}}?(?:apartments?|homes?|houses?|rentals?|listings?|results?|properties|condos?|places)\b",
    re.IGNORECASE,
)
_BARE = re.compile(r"\(?(\d{1,3}(?:,\d{3})+|\d{1,7})\)?")
_COUNTERS = "[class*=total], [class*=count], [class*=results], [id*=total], [id*=count]"
_NAMED_TOTAL = re.compile(r"total-?_?(?:count|results)|results?-?_?(?:count|total)", re.IGNORECASE)
_NEXT = 'a.next, .next > a, a[aria-label^="Next" i], a[class~="pagination-next"], a[data-page="next"]'
_LONGEST = 100


def total_of(document: Document, selectors: Spec | None) -> int | None:
    """How many homes the site says there are: at the adapter's place for it, else where pages usually say it."""
    place = str((selectors or {}).get("total", ""))
    root = document.tree.root
    if place and root is not None:
        digits = "".join(letter for letter in pick(root, place) if letter.isdigit())
        return int(digits[:9]) if digits else None
    return pagination.total(document) or stated_total(document)


def stated_total(document: Document) -> int | None:
    """A count in a heading, or in what is named a count: `812 apartments for rent`, `Showing 25 of 700 results`."""
    for node in document.css(f"h1, h2, {_COUNTERS}"):
        text = squash(node.text(separator=" "))
        if not text or len(text) > _LONGEST:
            continue
        names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
        bare = _BARE.fullmatch(text) if _NAMED_TOTAL.search(names) else None
        if match := _SHOWING.search(text) or _COUNTED.search(text) or bare:
            return int(match[1].replace(",", ""))
    match = _SHOWING.search(document.text)
    return int(match[1].replace(",", "")) if match else None


def next_of(document: Document) -> str | None:
    """The list's next page: as every list says it, else by what result pages call its link."""
    if url := pagination.next_url(document):
        return url
    here = document.url.partition("#")[0]
    for node in document.css(_NEXT):
        href = node.attributes.get("href") or ""
        url = document.absolute(href) if href and "disabled" not in (node.attributes.get("class") or "") else ""
        if url and url.partition("#")[0] != here:
            return url
    return None
