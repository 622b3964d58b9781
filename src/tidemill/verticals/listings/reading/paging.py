"""How many homes a site says there are, and where its list goes on, beyond what every list says alike."""

import re

from tidemill.reading import pagination
from tidemill.reading.document import Document
from tidemill.reading.selectors import Spec, pick
from tidemill.reading.text import squash

_NUMBER = r"(?<![\d$€£.,#-])(\d{1,3}(?:[,.'\u2019\u00a0\u202f ]\d{3})+(?!\d)|\d{1,7}(?!\d))"
_SHOWING = re.compile(rf"\b(?:showing|viewing)\b[^.|]{{0,30}}?\bof\s+(?:about\s+)?{_NUMBER}", re.IGNORECASE)
_NOUNS = (
    r"(?:apartments?|homes?|houses?|rentals?|listings?|results?|properties|condos?|places|flats"
    r"|huurwoningen|woningen|appartementen|huizen|kamers|resultaten|wohnungen|mietwohnungen|h\u00e4user|immobilien|angebote"
    r"|treffer|ergebnisse|annonces|locations|appartements|logements|biens|viviendas|pisos|inmuebles|anuncios|resultados"
    r"|annunci|case|immobili|risultati|alloggi|casas|apartamentos|im\u00f3veis|an\u00fancios|maisons|propri\u00e9t\u00e9s"
    r"|objekte|inserate|anzeigen|advertenties|objecten|og\u0142osze\u0144|ofert|nieruchomo\u015bci|mieszka\u0144|bost\u00e4der"
    r"|l\u00e4genheter|boliger|lejligheder|asuntoa|nab\u00eddek|byt\u016f|ingatlan|lak\u00e1s)\b"
)
_COUNTED = re.compile(rf"{_NUMBER}\s+(?:[A-Za-z]+\s+){{0,3}}?{_NOUNS}", re.IGNORECASE)
_SAID = re.compile(rf"(?:[^\d]{{0,30}}\s)?{_NUMBER}\s+(?:[^\W\d]+\s+){{0,2}}?{_NOUNS}(?:\W.{{0,40}})?", re.IGNORECASE)
"""A short line of its own that counts what was found: `Er zijn 214 huurwoningen gevonden`."""
_FOUND = re.compile(rf"\d{{1,4}}\s?[-\u2013]\s?\d{{1,4}}\s(?:of|von|van|de|sur|su|z|af|av)\s{_NUMBER}", re.IGNORECASE)
_MOST_LINES, _LONGEST_LINE, _MOST_READ = 400, 80, 200_000
_BARE = re.compile(r"\(?(\d{1,3}(?:,\d{3})+|\d{1,7})\)?")
_COUNTERS = "[class*=total i], [class*=count i], [class*=results i], [id*=total i], [id*=count i]"
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
        if match := _SHOWING.search(text) or _FOUND.search(text) or _COUNTED.search(text) or bare:
            return _whole(match[1])
    match = _SHOWING.search(document.text)
    return _whole(match[1]) if match else _said_in_a_line(document)


def _said_in_a_line(document: Document) -> int | None:
    """A count that a line of its own tells, among the first of the page."""
    budget = _MOST_READ
    for node in document.css("p, span, div, strong, h3, h4, li")[:_MOST_LINES]:
        child = node.first_child
        if budget <= 0:
            break
        if child is None or not child.is_text_node or not (child.text_content or "").strip():
            continue
        written = node.text(separator=" ")
        budget -= len(written)
        text = squash(written[: 4 * _LONGEST_LINE])
        if len(text) <= _LONGEST_LINE and (match := _FOUND.search(text) or _SAID.fullmatch(text)):
            return _whole(match[1])
    return None


def _whole(written: str) -> int:
    return int("".join(filter(str.isdecimal, written)))


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
