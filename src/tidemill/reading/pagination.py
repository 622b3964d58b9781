"""Where a list goes on, and how much of it the site says there is."""

import re

from tidemill.reading.document import Document
from tidemill.reading.text import squash

_NEXT_LINK = re.compile(rb"""xt(?<=[nN]ext)(?:(?<=="next)|(?<=rel='next)|(?<=rel=next)|(?<=>Next))""")
_NEXT_WORD = re.compile(rb"g(?:e(?:nde(?<=olgende)|r(?<=pager))|inat(?<=paginat))")
_VOLGENDE = b"olgende"
_NEXT_SIGNS = (
    *(arrow.encode() for arrow in "\u203a»→"),
    b"&rsaquo;", b"&raquo;", b"&rarr;", b"&gt;</a", b">></a", b">Older", b">Later",
)  # fmt: skip
"""What markup must hold to be searched for a next page.

Every page is scanned for them, so several words share one scan, which stops only at a letter that is rare and looks
back from there. A pager counts with its sign for onward only: pages speak of pages without having any more.
"""
_NEXT_WORDS = re.compile(
    r"(?:ga naar |naar )?(?:de )?(?:volgende|next|later|older)"
    r"(?: (?:pagina|page|resultaten|results|evenementen|events|\d+))?[\s\u203a»→>]*|[\u203a»→]|>+",
    re.IGNORECASE,
)
_SPAN_OF_TOTAL = re.compile(
    r"(\d[\d.,]*)\s*(?:-|\u2013|\u2014|t/m|tot|to)\s*(\d[\d.,]*)\s+(?:van|of)\s+(?:de\s+|the\s+)?(\d[\d.,]*)"
)
_TAG = re.compile(r"<[^<>]*>")
_TOTAL_HINTS = (b" van ", b" of ")
_AROUND = 40
_WIDEST = 4  # bytes of a character


def next_url(document: Document) -> str | None:
    """The address of the list's next page, if the page shows one; never the page itself."""
    if not _may_have_next(document.layout):
        return None
    for selector in ('link[rel~="next"]', 'a[rel~="next"]'):
        for node in document.css(selector):
            if url := _other_url(document, node.attributes.get("href")):
                return url
    return _next_by_label(document)


def _may_have_next(layout: bytes) -> bool:
    """Whether it is worth building a tree."""
    if _NEXT_LINK.search(layout):
        return True
    if _NEXT_WORD.search(layout) is None:
        return False
    return _VOLGENDE in layout or any(sign in layout for sign in _NEXT_SIGNS)


def total(document: Document) -> int | None:
    """How many records the site says that the whole list has ("1-20 van 45"), if it does."""
    markup = document.layout
    for hint in _TOTAL_HINTS:
        at = markup.find(hint)
        while at >= 0:
            after = markup[at + len(hint) : at + len(hint) + 1]
            if (after.isdigit() or after in b"<dt") and (count := _count_near(markup, at)) is not None:
                return count
            at = markup.find(hint, at + len(hint))
    return None


def _count_near(markup: bytes, at: int) -> int | None:
    before = markup[max(0, at - _AROUND * _WIDEST) : at].decode(errors="ignore")[-_AROUND:]
    after = markup[at : at + _AROUND * _WIDEST].decode(errors="ignore")[:_AROUND]
    match = _SPAN_OF_TOTAL.search(_TAG.sub("", before + after).lower())
    if match is None:
        return None
    first, last, count = (int(group.replace(".", "").replace(",", "")) for group in match.groups())
    return count if first <= last <= count else None


def _next_by_label(document: Document) -> str | None:
    for node in document.css("a[href]"):
        label = squash(node.text()) or node.attributes.get("aria-label") or node.attributes.get("title") or ""
        pagination = _looks_like_pagination(" ".join(filter(None, (node.attributes.get("class"), _names_around(node)))))
        if (pagination and _NEXT_WORDS.fullmatch(label.strip())) and (
            url := _other_url(document, node.attributes.get("href"))
        ):
            return url
    return None


def _names_around(node: object) -> str:
    words: list[str] = []
    parent = getattr(node, "parent", None)
    for _ in range(3):
        if parent is None or parent.attributes is None:
            break
        words.extend(
            filter(
                None, (parent.attributes.get("class"), parent.attributes.get("aria-label"), parent.attributes.get("id"))
            )
        )
        if parent.tag == "nav":
            words.append("pagination")
        parent = parent.parent
    return " ".join(words)


def _looks_like_pagination(words: str) -> bool:
    lowered = words.lower()
    return any(word in lowered for word in ("pag", "next", "volgende", "nav"))


def _other_url(document: Document, href: str | None) -> str:
    url = document.absolute(href) if href else ""
    return url if url and url.partition("#")[0] != document.url.partition("#")[0] else ""
