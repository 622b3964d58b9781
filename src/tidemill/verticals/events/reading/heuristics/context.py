"""What stands around a block: the heading over it, the year it is of, the page's own subject."""

import re
from datetime import date
from functools import cached_property

from tidemill.reading.document import Document
from tidemill.reading.outline import HEADINGS, Element
from tidemill.reading.text import squash
from tidemill.verticals.events.reading.heuristics.wording import (
    is_generic,
    kind_of_meeting,
    names_no_body,
    title_from,
    title_names_members,
    without_paperwork,
    years_in,
)

_SITE = re.compile(r"\s+[|\u2013\u2014·»:>-]\s+|\s*[|»]\s*")


_NEWS = re.compile(
    r"(?:(?:from|the|het|all|our|more|meer|ander|other|overig|latest|recente?|laatste|city|local|lokaal|related"
    r"|gerelateerd) )*"
    r"(?:news(?:room|letters?)?|nieuws(?:berichten|brie(?:f|ven)|archief)?|blogs?|(?:blog)?posts?|articles|stories"
    r"|berichten|press releases?|persberichten"
    r"|(?:public )?comments|(?:annual |audit |financial )?reports?|resolutions?|ordinances?|legislation|publications?"
    r"|actueel|mededelingen|bekendmakingen|(?:\d+ )?(?:comments|reacties))",
    re.IGNORECASE,
)
_NO_AGENDA = re.compile(
    r"(?:(?:alle|onze|current|our) )*(?:vacatures?|job openings?|jobs|careers|employment(?: opportunities)?"
    r"|aanbestedingen|bids(?: (?:and|&) rfps)?|tenders|(?:(?:current|open) )?(?:bid|rfp"
    r"|procurement) opportunities|procurement"
    r"|(?:\w+ )?(?:closures|closed(?: dates| days)?)|(?:we are|we will be) closed(?: on)?|(?:sluitings"
    r"|gesloten )dagen|gesloten"
    r"|(?:\w+ ){0,2}holidays(?: observed)?(?: 20\d\d)?"
    r"|holiday (?:hours|schedule|closings)|schliesstage|schlie\u00dftage"
    r"|(?:\w+ ){0,2}(?:policies|rosters?|terms of office))",
    re.IGNORECASE,
)
_LONGEST_SECTION = 60
_BODY_OF = re.compile(
    r"\bBoard of (?:Directors|Trustees|Commissioners|Governors|Supervisors|Education|Regents|Managers|Visitors|Health"
    r"|Aldermen|Selectmen)\b",
    re.IGNORECASE,
)
_LONGEST_PARAGRAPH = 800
_KIND_ALONE = re.compile(
    r"(?:(?:public|regular|special|upcoming|next) )*"
    r"(?:meetings?|hearings?|sessions?|vergadering(?:en)?|sitzung(?:en)?)",
    re.IGNORECASE,
)
"""A heading that says what is held and not by whom."""


class BlockContext:
    """The headings of a page in order, to ask what a block stands under."""

    def __init__(self, document: Document, elements: list[Element]) -> None:
        """Look the page's headings and its own title over."""
        parts = _SITE.split(document.title)
        named = [title for part in parts if (title := title_from(part))]
        self.site = _site_name(document, parts)
        self._page = document.url.rpartition("://")[2].partition("/")[2].partition("?")[0].casefold()
        self._site = self.site.casefold()
        self._own = [name for name in named if name.casefold() != self._site]
        self._headings = [element for element in elements if is_heading(element) and element.text]
        self.main_heading = next(
            (one for one in self._headings if one.tag == "h1" and self._names_something(one)), None
        )
        self.subject = self._subject()
        self._sections: dict[int, str] = {}
        self.labelled_title = _labelled_title(elements)
        self._elements = elements

    def title_over(self, block: Element) -> str:
        """The nearest heading above a block that can be a title; else what the page is about."""
        heading = self.heading_over(block)
        if heading is None:
            return self.subject
        title = without_paperwork(title_from(heading.text))
        main = self.main_heading
        if main is not None and main is not heading and main.order < block.order and _KIND_ALONE.fullmatch(title):
            return f"{without_paperwork(self.subject)}: {title}"
        return title

    def heading_over(self, block: Element) -> Element | None:
        """The nearest heading above a block that can be a title."""
        return next((heading for heading in reversed(self._before(block)[-6:]) if self._names_something(heading)), None)

    def of_the_site(self, title: str) -> str:
        """A title that names no body, as `Board meeting`, with the site's name in front; any other as it is."""
        site = self.site
        if not names_no_body(title):
            return title
        if not title_names_members(title) and (body := self.body):
            sort = kind_of_meeting([title])
            title = f"{body}: {sort}" if sort else body
        says_whose = not site or names_no_body(site) or is_generic(site)
        return title if says_whose or len(site) > _LONGEST_SECTION else f"{site}: {title}"

    @cached_property
    def body(self) -> str:
        """The one `Board of Directors` or the like that the page's text names; '' where there is none, or several."""
        texts = (one.text for one in self._elements if len(one.text) <= _LONGEST_PARAGRAPH)
        found = {match[0].title().replace(" Of ", " of ") for text in texts if (match := _BODY_OF.search(text))}
        return found.pop() if len(found) == 1 else ""

    def is_agenda(self, block: Element, day: date, today: date) -> bool:
        """Whether a block may be an event: vacancies, bids and closures never are, and news of days gone by is news."""
        heading = section_heading(block, self._sections)
        if _NO_AGENDA.fullmatch(heading):
            return False
        return day > today or _NEWS.fullmatch(heading) is None

    def year_over(self, block: Element) -> int | None:
        """The year that the nearest heading with one names, if it names just one."""
        for heading in reversed(self._before(block)):
            years = years_in(heading.text)
            if years:
                return next(iter(years)) if len(years) == 1 else None
        return None

    def _before(self, block: Element) -> list[Element]:
        return [heading for heading in self._headings if heading.order < block.order]

    def _names_something(self, heading: Element) -> bool:
        """Whether a heading can be a title: not the site's name, nor a banner that the page's own title ignores."""
        title = title_from(heading.text)
        if not title or title.casefold() == self._site:
            return False
        if heading.tag != "h1" or not self._own or any(_same(title, name) for name in self._own):
            return True
        words = _ADDRESS_WORD.findall(title.casefold())
        return len(words) > 1 and all(word in self._page for word in words)

    def _subject(self) -> str:
        if self.main_heading is not None:
            return title_from(self.main_heading.text)
        return next(iter(self._own), "")


def _site_name(document: Document, parts: list[str]) -> str:
    """What the site calls itself: its own word for it, else the last part of a title in several parts."""
    node = document.first('meta[property="og:site_name"]')
    declared = squash(node.attributes.get("content") or "") if node is not None else ""
    return declared or (title_from(parts[-1]) if len(parts) > 1 else "")


def _labelled_title(elements: list[Element]) -> str:
    """What stands behind the page's one label `Meeting name:`; '' where there is none, or several."""
    found = [one for one in elements if len(one.text) <= _LONGEST_LABEL and _TITLE_LABEL.fullmatch(one.text)]
    smallest = [one for one in found if not any(child in found for child in one.children)]
    if len(smallest) != 1 or smallest[0].parent is None:
        return ""
    siblings = smallest[0].parent.children
    place = next(index for index, one in enumerate(siblings) if one is smallest[0])
    return title_from(siblings[place + 1].text) if place + 1 < len(siblings) else ""


_TITLE_LABEL = re.compile(
    r"(?:(?:meeting|event|committee) (?:name|title|body)|name of (?:meeting|event)|naam (?:vergadering|activiteit)"
    r"|vergadering|gremium|organe)\s*:",
    re.IGNORECASE,
)
_LONGEST_LABEL = 24


def _same(one: str, other: str) -> bool:
    """Whether one says the other, or both share what they are about: `Parks Board`, `Parks and Recreation Board`."""
    one, other = one.casefold(), other.casefold()
    if one in other or other in one:
        return True
    words = set(_WORD.findall(one))
    shared = words & set(_WORD.findall(other))
    return 2 * len(shared) >= len(words) and bool(shared)


_ADDRESS_WORD = re.compile(r"[^\W\d_]{3,}")
_WORD = re.compile(r"[^\W\d_]{4,}")


def section_heading(block: Element, known: dict[int, str]) -> str:
    """The heading of the list that a block is an item of: the nearest above that is not another item's.

    `known` remembers it for the next items.
    """
    found = _heading_before(block, block.kind, known)
    element = block.parent
    while found is None and element is not None:
        found = _heading_before(element, "", known)
        element = element.parent
    known[block.order] = found or ""
    return found or ""


def _heading_before(element: Element, kind: str, known: dict[int, str]) -> str | None:
    """The nearest heading before an element among its siblings, or what is known of a like item; None if neither."""
    siblings = element.parent.children if element.parent is not None else []
    place = next((index for index, sibling in enumerate(siblings) if sibling is element), 0)
    for index in range(place - 1, -1, -1):
        sibling = siblings[index]
        if sibling.kind == kind:
            if sibling.order in known:
                return known[sibling.order]
        elif 0 < len(sibling.text) <= _LONGEST_SECTION:
            heading = next((one for one in sibling.walk() if is_heading(one)), None)
            if heading is not None:
                return heading.text
    return None


def is_heading(element: Element) -> bool:
    """A heading, or what is used as one: a caption, a summary, a paragraph that is all bold."""
    if element.tag in HEADINGS or element.tag in {"caption", "summary", "legend"}:
        return True
    if element.tag != "p" or len(element.text) > 100:  # noqa: PLR2004 - a heading's length
        return False
    bold = [child for child in element.children if child.tag in {"strong", "b"}]
    return bool(bold) and bold[0].text == element.text
