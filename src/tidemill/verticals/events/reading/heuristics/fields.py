"""What a block says beside its date: title, place, link, image, description."""

import re
from collections.abc import Iterator

from tidemill.reading.document import Document
from tidemill.reading.outline import HEADINGS, Element
from tidemill.reading.text import bounded
from tidemill.verticals.events.reading.heuristics.places import (
    is_address,
    is_place,
    looks_like_place,
    place_in_sentence,
)
from tidemill.verticals.events.reading.heuristics.tables import DATE_COLUMN, cell_under, cells_beside, has_named_columns
from tidemill.verticals.events.reading.heuristics.wording import (
    ROLES,
    is_title,
    kind_of_meeting,
    parts_of,
    title_from,
    without_dates,
)

_TITLE_NAMES = re.compile(
    r"(?:^|[\s_-])(?:title|titel|name|naam|headline|summary|subject|kop)(?:$|[\s_-])|title\b|titel\b"
)
_PLACE_NAMES = re.compile(
    r"locat|venue|lieu|lugar|luogo|ubicaci|spielort|veranstaltungsort"
    r"|(?:^|[\s_-])(?:ort|adresse|salle|sede)(?:$|[\s_-])"
    r"|(?:^|[\s_-])loc(?:$|[\s_-])|(?:^|[\s_-])(?:place|plaats|zaal|adres|address|waar|where)(?:$|[\s_-])"
)
_TEXT_NAMES = re.compile(
    r"descri|omschrijving|intro|excerpt|teaser|samenvatting|(?:^|[\s_-])(?:body|text|tekst)(?:$|[\s_-])"
)
_PLACE_LABEL = re.compile(
    r"(?:^|[\s|,])(?:locatie|(?:meeting )?location|waar|where|plaats|place|venue|adres|address|ort"
    r"|veranstaltungsort|wo|lieu|où|adresse|lugar|luogo|dove|sede|indirizzo)\s*:\s*(?P<place>[^|]{3,150})",
    re.IGNORECASE,
)
_NEXT_LABEL = re.compile(
    r"\s(?=(?:datum|date|tijd|time|when|wanneer|kosten|prijs|price|cost|entree|toegang|contact|website|e-?mail|telefoon|phone|organi[sz]at\w+|"
    r"meer info\w*|how to|description|category|categorie|agenda|minutes)\b[^:]{0,20}:)",
    re.IGNORECASE,
)
_PLACE_COLUMN = re.compile(
    r"(?:(?:meeting|event|vergader)?[ -]?(?:locatie|locaties?|location|plaats|place|waar|where|venue|zaal"
    r"|ruimte|adres|address"
    r"|room|building|gebouw|raum|sitzungsraum|ort|veranstaltungsort|lieu|salle|adresse|lugar|luogo|sala|sede|dove|wo|où))",
    re.IGNORECASE,
)
_TITLE_COLUMN = re.compile(
    r"(?:titel|title|naam|name|activiteit|evenement|event|wat|what|vergadering|meeting|onderwerp|subject|voorstelling|body"
    r"|bijzonderheden|omschrijving|description|programma|gelegenheid|thema|tocht|wedstrijd|film|concert|lezing|committee|board"
    r"|commissie|gremium|ausschuss|sitzung|veranstaltung|titre|intitulé|événement|évènement|título|evento|actividad|titolo)",
    re.IGNORECASE,
)
_OTHER_COLUMN = re.compile(
    rf"{_PLACE_COLUMN.pattern}|{DATE_COLUMN.pattern}|(?:start|end|begin|eind)?(?: ?ti(?:jd|me)s?)"
    rf"|agenda|minutes|{ROLES}",
    re.IGNORECASE,
)
_FILES = re.compile(r"\.(?:pdf|docx?|xlsx?|pptx?|ics|mp3|mp4|zip)(?:$|[?#])", re.IGNORECASE)
_IMAGE_NAMES = ("src", "data-src", "data-lazy-src", "data-original")
_LONGEST_LABEL = 20
_LONGEST_PLACE, _SHORT_PLACE, _FEW_FACTS, _LONGEST_DESCRIPTION = 150, 60, 5, 1_000


def title_of(block: Element) -> tuple[str, Element | None]:
    """A block's title and the element it stands in; ('', None) if nothing in it can be one."""
    cell = cell_under(block, _TITLE_COLUMN) if block.tag == "tr" else None
    if cell is not None and (found := _title_in(cell))[0]:
        return found[0], found[1] or cell
    return _title_in(block)


def _title_in(block: Element) -> tuple[str, Element | None]:
    for element in _candidates(block):
        title = title_from(element.text if len(element.text) <= _LONGEST_TITLE else _first_clause(element))
        if title:
            return title, element
    lines = block.lines(without=is_label)
    return next(filter(None, map(title_from, [*filter(_LABELLED_TITLE.match, lines), *lines])), ""), None


_LABELLED_TITLE = re.compile(
    r"(?:meeting|event|title|subject|what|name|activity|onderwerp|titel|naam|wat|activiteit|vergadering|evenement"
    r"|veranstaltung|was|evento|actividad|t\u00edtulo|titre|\u00e9v\u00e9nement|titolo)\s*:\s*\w",
    re.IGNORECASE,
)
"""A line that says which is the title."""


def _first_clause(element: Element) -> str:
    """What a link that says too much for a title says before its first colon or full stop; '' of other elements."""
    clause = _CLAUSE.split(element.text[:_LONGEST_SENTENCE], maxsplit=1)[0] if element.tag == "a" else element.text
    return clause if len(clause) <= _LONGEST_TITLE else ""


_CLAUSE = re.compile(r"[:;]\s|(?<=[a-z\d)]{3})\.\s")
_LONGEST_TITLE = 180


def is_label(element: Element) -> bool:
    """A link that says what it does, not what the event is: `Agenda (pdf)`, `Lees meer`."""
    return element.tag == "a" and not is_title(without_dates(element.text))


def _candidates(block: Element) -> Iterator[Element]:
    """Elements that may be the title, likeliest first: headings, what is named so, links, bold text, cells."""
    under = list(block.walk())
    if block.tag == "tr":
        under = [element for cell in cells_beside(block, _OTHER_COLUMN) for element in cell.walk()]
    yield from (element for element in under if element.tag in HEADINGS)
    yield from (
        element for element in under if element is not block and element.names and _TITLE_NAMES.search(element.names)
    )
    links = [element for element in under if element.tag == "a"]
    yield from (element for link in links for element in (*_bold(link), *_beside_date(link), link))
    yield from (element for element in under if element.tag in {"strong", "b"} and not element.text.endswith(":"))
    yield from (element for element in under if element.tag in {"td", "th"} and element is not block)


def _beside_date(link: Element) -> Iterator[Element]:
    """The pieces of a link that has its date, its title and its place each in an element of its own."""
    pieces = [one for one in link.children if one.text]
    apart = len(pieces) > 1 and not any(isinstance(one, str) and one.strip() for one in link.content)
    if apart and any(not without_dates(one.text) for one in pieces[:_FEW_FACTS]):
        yield from (one for one in pieces if without_dates(one.text))


def _bold(link: Element) -> Iterator[Element]:
    """What stands out in a link that holds more than its title."""
    return (element for element in link.walk() if element.tag in {"strong", "b"})


def place_of(block: Element, title: str = "") -> str:
    """Where it is: by what an element or a column is named, by a label, or by words that only a place has."""
    cell = cell_under(block, _PLACE_COLUMN) if block.tag == "tr" else None
    if cell is not None and cell.text:
        return cell.text
    for element in block.walk():
        if element is not block and element.names and _PLACE_NAMES.search(element.names):
            place = _without_label(element.text)
            if place and len(place) <= _LONGEST_PLACE:
                return place
    return labelled_place(" | ".join(block.lines())) or _under_label(block) or _left_over(block, title)


def _under_label(block: Element) -> str:
    """What follows an element that is nothing but a label: `<dt>Locatie</dt><dd>Marktplein</dd>`."""
    for element in block.walk():
        if (
            element.parent is not None
            and len(element.text) <= _LONGEST_LABEL
            and _PLACE_COLUMN.fullmatch(element.text.rstrip(" :"))
        ):
            siblings = element.parent.children
            after = siblings[next(index for index, one in enumerate(siblings) if one is element) + 1 :]
            if after and 0 < len(after[0].text) <= _LONGEST_PLACE:
                return after[0].text
    return ""


def _left_over(block: Element, title: str) -> str:
    """What is left without title and date: the one other fact of a list, or words that look like a place."""
    for facts in block.walk():
        if facts.tag in {"ul", "dl"} and 1 < len(facts.children) <= _FEW_FACTS:
            others = [part for child in facts.children for part in parts_of(child.text) if part != title]
            if len(others) == 1 and len(others[0]) <= _SHORT_PLACE and not _ABOUT_PAPERS.search(others[0]):
                return others[0]
    lines = [line for line in block.lines(without=is_label) if line != title]
    if len(block.text) > _LONGEST_PLACE:
        named = next((line for line in lines if len(line) <= _SHORT_PLACE and is_place(line)), "")
        named = named or next((line for line in lines if len(line) <= _LONGEST_PLACE and is_address(line)), "")
        return named or place_in_sentence(block.text[:_LONGEST_SENTENCE])
    named_first = (_beyond(part, title).split(":")[0] for line in lines for part in parts_of(line))
    left = [*filter(is_place, named_first), *parts_of(" ".join(lines).replace(title, " "))]
    named = next((part for part in left if looks_like_place(part) or is_place(part) or is_address(part)), "")
    behind = next((place for line in lines if (place := _behind_hour(line, title))), "")
    return named or behind or place_in_sentence(block.text) or _only_line(lines, block)


def _beyond(part: str, title: str) -> str:
    """What a piece of text says behind the title that it begins with; all of it where it does not."""
    return part.removeprefix(title).strip() or part if title else part


def _behind_hour(line: str, title: str) -> str:
    """What stands behind the title and the hour of a line, and nothing else: `Tax Help, 1:00 p.m., Computer Lab`."""
    match = _HOUR_AND_REST.search(line)
    if match is None or title not in line[: match.start()]:
        return ""
    rest = match["rest"].strip()
    fits = len(rest) <= _SHORT_PLACE and len(rest.split()) <= _WORDS_OF_PLACE
    return rest if fits and rest[0].isupper() and _may_be_place(rest) else ""


_HOUR_AND_REST = re.compile(
    r"\d{1,2}(?:[:.]\d\d)?\s*(?:[ap]\.?m\.?|uur|uhr|h)?\s*[,|\u00b7\u2022@\u2013-]\s*(?P<rest>[^\W\d_][^,;|]{2,60})$",
    re.IGNORECASE,
)


def _only_line(lines: list[str], block: Element) -> str:
    """The one short piece of a card that is neither its title nor its date, and stands behind the date: where it is."""
    if (block.tag == "tr" and has_named_columns(block)) or len(lines) > _FEW_FACTS:
        return ""
    dated = [place for place, line in enumerate(lines) if DATE_HINT_OR_HOUR.search(line)]
    told = [(place, part) for place, line in enumerate(lines) if not _PRICE.search(line) for part in parts_of(line)]
    if not dated or len(told) != 1 or told[0][0] < dated[0]:
        return ""
    line = told[0][1]
    fits = 2 < len(line) <= _SHORT_PLACE and len(line.split()) <= _WORDS_OF_PLACE  # noqa: PLR2004
    return (
        line if fits and line[0].isupper() and not line.endswith((".", "!", "?", ":")) and _may_be_place(line) else ""
    )


DATE_HINT_OR_HOUR = re.compile(r"\d")
"""What the line of a date or an hour has."""


def _may_be_place(line: str) -> bool:
    """Whether a line is no sort of meeting, no label and no status."""
    return is_title(line) and not kind_of_meeting([line]) and not _ABOUT_PAPERS.search(line)


_ABOUT_PAPERS = re.compile(
    r"\b(?:meeting|notice|agenda|minutes|cancel\w*|reschedul\w*|postpone\w*|hearing|vergadering|notulen)\b",
    re.IGNORECASE,
)
_PRICE = re.compile(r"[$\u20ac\u00a3]|\b(?:free|gratis|frei|gratuit|eur)\b", re.IGNORECASE)
_WORDS_OF_PLACE, _LONGEST_SENTENCE = 6, 600


def labelled_place(text: str) -> str:
    """The place after a label such as `Locatie:`, on its own line or the next."""
    match = _PLACE_LABEL.search(text.replace(": |", ":")) if ":" in text else None
    return _NEXT_LABEL.split(match["place"])[0].strip(" ,;-") if match else ""


def _without_label(text: str) -> str:
    place = re.sub(
        r"^(?:locatie|location|waar|where|plaats|place(?!\s+d)|venue|adres|address|ort|lieu|lugar|luogo)\b\s*:?\s*",
        "",
        text,
        flags=re.IGNORECASE,
    )
    return without_dates(place)


def link_of(block: Element, title: Element | None, document: Document) -> str:
    """The address of the event's own page: the title's link, the block's own, or the first that is not a file."""
    for element in _links(block, title):
        href = element.attributes.get("href") or ""
        if href and not href.startswith(("#", "mailto:", "tel:", "javascript:")) and not _FILES.search(href):
            return document.absolute(href)
    return ""


def _links(block: Element, title: Element | None) -> Iterator[Element]:
    if title is not None:
        yield from (element for element in title.walk() if element.tag == "a")
        above = title.parent
        while above is not None and above is not block.parent:
            if above.tag == "a":
                yield above
            above = above.parent
    under = [element for element in block.walk() if element.tag == "a"]
    yield from (element for element in under if is_title(element.text))
    yield from under


def image_of(block: Element, document: Document) -> str:
    """The address of the block's first picture."""
    for element in block.walk():
        if element.tag == "img":
            found = next(filter(None, (element.attributes.get(name) for name in _IMAGE_NAMES)), "")
            if found and not found.startswith("data:"):
                return document.absolute(found)
    return ""


def description_of(block: Element, title: str) -> str:
    """A few sentences about it: what is named so, else a paragraph that is neither title nor date."""
    for element in block.walk():
        if element is not block and (element.tag == "p" or (element.names and _TEXT_NAMES.search(element.names))):
            text = element.text
            if any(child.tag in HEADINGS for child in element.walk()):
                continue
            if len(text) > 40 and text != title and len(without_dates(text)) > 30:  # noqa: PLR2004 - a sentence at least
                return bounded(text, _LONGEST_DESCRIPTION)
    return ""
