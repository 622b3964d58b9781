"""What stands around a block: the heading over it, the year it is of, the page's own subject."""

import re

from tidemill.reading.document import Document
from tidemill.reading.heuristics.outline import HEADINGS, Element
from tidemill.reading.heuristics.wording import title_from, years_in
from tidemill.reading.text import squash

_SITE = re.compile(r"\s+[|–—·»:-]\s+|\s*[|»]\s*")


class Surroundings:
    """The headings of a page in order, to ask what a block stands under."""

    def __init__(self, document: Document, elements: list[Element]) -> None:
        self._headings = [element for element in elements if is_heading(element) and element.text]
        self.subject = _subject(document, elements)

    def title_over(self, block: Element) -> str:
        """The nearest heading above a block that can be a title; else what the page is about."""
        for heading in reversed(self._before(block)[-6:]):
            title = title_from(heading.text)
            if title:
                return title
        return self.subject

    def year_over(self, block: Element) -> int | None:
        """The year that the nearest heading with one names, if it names just one."""
        for heading in reversed(self._before(block)):
            years = years_in(heading.text)
            if years:
                return next(iter(years)) if len(years) == 1 else None
        return None

    def _before(self, block: Element) -> list[Element]:
        return [heading for heading in self._headings if heading.order < block.order]


def is_heading(element: Element) -> bool:
    """A heading, or what is used as one: a caption, a summary, a paragraph that is all bold."""
    if element.tag in HEADINGS or element.tag in {"caption", "summary", "legend", "thead"}:
        return True
    if element.tag != "p" or len(element.text) > 100:  # noqa: PLR2004 - a heading's length
        return False
    bold = [child for child in element.children if child.tag in {"strong", "b"}]
    return bool(bold) and bold[0].text == element.text


def _subject(document: Document, elements: list[Element]) -> str:
    for element in elements:
        if element.tag == "h1" and (title := title_from(element.text)):
            return title
    for selector in ('meta[property="og:title"]',):
        node = document.first(selector)
        if node is not None and (title := title_from(_SITE.split(squash(node.attributes.get("content") or ""))[0])):
            return title
    parts = [title for part in _SITE.split(document.title) if (title := title_from(part))]
    return parts[0] if parts else ""
