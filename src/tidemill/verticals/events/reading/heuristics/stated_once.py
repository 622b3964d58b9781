"""What a page states once for all its dates: the hour at which meetings begin, and where they are held."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

import msgspec

from tidemill.core.record import RawRecord
from tidemill.reading.moments import Grain, parse_moment
from tidemill.reading.moments.words import MONTHS, any_of
from tidemill.reading.outline import Element
from tidemill.reading.reading_context import ReadingContext
from tidemill.verticals.events.reading.heuristics.dating import moments_in
from tidemill.verticals.events.reading.heuristics.fields import labelled_place
from tidemill.verticals.events.reading.heuristics.hours import at_hour_in
from tidemill.verticals.events.reading.heuristics.places import CLOCK, GATHERS, place_in_sentence
from tidemill.verticals.events.reading.heuristics.wording import RECURS

_LONGEST = 700
"""Characters of a paragraph that states such a thing."""
_SHORTEST = 20
_SEVERAL_DATES = 3
_MOST_STATEMENTS = 40
_HOUR = re.compile(
    rf"\b{GATHERS}\b[^|]{{0,160}}?(?:\b(?:at|from|@|om|vanaf|begins?|beginning|starts?|starting|um|à|ab|time:?)\s+"
    rf"|[,\u2013-]\s*)(?P<clock>{CLOCK})",
    re.IGNORECASE,
)
_LABELLED_HOUR = re.compile(rf"\b(?:time|tijd|uhrzeit|heure|hora)\s*:\s*(?P<clock>{CLOCK})", re.IGNORECASE)
_NOT_IN_A_BLOCK = frozenset(
    {"p", "div", "li", "td", "dd", "span", "h2", "h3", "h4", "h5", "strong", "em", "section", "main", "article", "body"}
)
_STREETS = (
    r"(?:Street|St|Avenue|Ave|Boulevard|Blvd|Road|Rd|Drive|Dr|Lane|Ln|Way|Square|Sq|Plaza|Place|Parkway|Pkwy|Court|Ct)"
)
_ADDRESS = re.compile(
    rf"\b\d{{1,5}} (?:[A-Z0-9][\w.'\u2019]* ){{1,5}}{_STREETS}\b\.?[^|;]{{0,60}}?\b[A-Z]{{2}},? \d{{5}}\b"
    rf"|\b(?!(?i:{any_of(MONTHS)})\b)[A-Z][\w'\u2019-]+(?: [\w'\u2019-]+){{0,3}} \d{{1,4}}[a-z]?,? [1-9]\d{{3}} "
    rf"?[A-Z]{{2}}\b"
    r"(?: [A-Z][\w'-]+)?"
)
"""A street with its number, to the postal code: American, Dutch."""
_LONGEST_ADDRESS = 300
_VIRTUAL = re.compile(r"\b(?:virtual|online|zoom|webinar|teams|webex|livestream)\b", re.IGNORECASE)
_ORDER = re.compile(r"\[(\d+)\]$")


class Statement(msgspec.Struct, frozen=True, gc=False):
    """What a paragraph states of all meetings, and where on the page it stands."""

    order: int
    clock: str = ""
    place: str = ""


def with_stated_facts(
    records: Sequence[RawRecord], elements: Sequence[Element], context: ReadingContext
) -> list[RawRecord]:
    """The records, with the hour and place that the page states for all where they have none of their own.

    A statement above a date counts before one below it; several that differ, none of them above, count for nothing.
    """
    if all("place" in one.fields and "T" in one.fields["starts"] for one in records):
        return list(records)
    stated = list(_statements(elements, context))
    if not any(one.place for one in stated):
        own = {str(record.fields["place"]).casefold() for record in records if "place" in record.fields}
        if address := only_address(elements, own) or _under_address_label(elements):
            stated.append(Statement(0, "", address))
    return [_completed(record, stated, context) for record in records] if stated else list(records)


def with_only_address(records: Sequence[RawRecord], elements: Sequence[Element]) -> list[RawRecord]:
    """The records, held at the only postal address on the page where they name no place and are not online."""
    address = only_address(elements) or _under_address_label(elements)
    return [_at_address(record, address) for record in records] if address else list(records)


def _at_address(record: RawRecord, address: str) -> RawRecord:
    fields = record.fields
    if "place" in fields or "address" in fields or _VIRTUAL.search(str(fields.get("title", ""))):
        return record
    return msgspec.structs.replace(record, fields={**fields, "place": address})


def only_address(elements: Sequence[Element], known: Collection[str] = ()) -> str:
    """The one postal address on a page, as it is written; '' where there is none, or more than one.

    Those in `known` places do not count: events have them already.
    """
    found: dict[str, str] = {}
    for element in elements:
        text = element.text
        if 0 < len(text) <= _LONGEST_ADDRESS and (match := _ADDRESS.search(text)) is not None:
            name = " ".join(match[0].split()[:2]).casefold()
            if not any(name in place for place in known):
                found.setdefault(name, match[0])
    return next(iter(found.values())) if len(found) == 1 else ""


def _under_address_label(elements: Sequence[Element]) -> str:
    """What stands under the one label `Address` of a page, on a few short lines; '' where there are several."""
    found = ""
    labels = (one for one in elements if len(one.text) <= _LONGEST_LABEL and _ADDRESS_LABEL.fullmatch(one.text))
    for element in islice(labels, _MOST_LABELS):
        if element.parent is None:
            continue
        after = " ".join(element.parent.text.partition(element.text)[2].split())
        place = _NEXT_FACT.split(after, maxsplit=1)[0].strip(" ,")
        if not 0 < len(place) <= _LONGEST_UNDER_LABEL or not any(map(str.isdigit, place)) or "@" in place:
            continue
        if found and found != place:
            return ""
        found = place
    return found


_ADDRESS_LABEL = re.compile(
    r"(?:address|visit us|our location|adres|bezoekadres|adresse|direcci\u00f3n|indirizzo)\s*:?", re.IGNORECASE
)
_NEXT_FACT = re.compile(
    r"\s(?=(?:e-?mail|phone|tel\w*|telefoon|fax|social|hours|website|openingstijden)\b)", re.IGNORECASE
)
_LONGEST_UNDER_LABEL, _LONGEST_LABEL, _MOST_LABELS = 150, 20, 5


def _statements(elements: Sequence[Element], context: ReadingContext) -> Iterator[Statement]:
    made = 0
    for element in elements:
        if element.tag not in _NOT_IN_A_BLOCK:
            continue
        for text in _own_texts(element):
            hour = _HOUR.search(text) or _LABELLED_HOUR.search(text)
            place = _unless_online(labelled_place(text)) or place_in_sentence(text)
            if not (hour or place) or _is_of_one_day(text, context):
                continue
            yield Statement(element.order, hour["clock"] if hour else "", place)
            made += 1
            if made >= _MOST_STATEMENTS:
                return


def _own_texts(element: Element) -> Iterator[str]:
    """The text of a paragraph; of an element with paragraphs in it only what stands loose between them."""
    if not _has_paragraphs(element):
        if 0 < len(element.text) <= _LONGEST:
            yield element.text
        return
    for part in element.content:
        if isinstance(part, str) and _SHORTEST < len(part) <= _LONGEST:
            yield " ".join(part.split())


def _has_paragraphs(element: Element) -> bool:
    return any(child.tag in {"p", "div", "li", "ul", "table", "section"} for child in element.children)


def _unless_online(place: str) -> str:
    return "" if place.startswith(("http", "www.")) else place


def _is_of_one_day(text: str, context: ReadingContext) -> bool:
    """Whether a paragraph is about a day or two of its own, and so not about all; `every Thursday` is about all."""
    if RECURS.search(text):
        return False
    days = {moment.day for _, _, moment in moments_in(text, context) if moment.grain in {Grain.DAY, Grain.MINUTE}}
    return 0 < len(days) < _SEVERAL_DATES


def _completed(record: RawRecord, stated: Sequence[Statement], context: ReadingContext) -> RawRecord:
    match = _ORDER.search(record.origin)
    order = int(match[1]) if match else 0
    fields = dict(record.fields)
    starts = str(fields["starts"])
    if "T" not in starts and "ends" not in fields and (clock := _chosen(stated, order, "clock")):
        moment = parse_moment(starts, context.now, context.time_zone)
        timed = at_hour_in(moment, clock, context) if moment is not None else None
        if timed is not None:
            fields["starts"] = timed.starts.isoformat(timespec="minutes")
    virtual = _VIRTUAL.search(str(fields["title"])) is not None
    if "place" not in fields and not virtual and (place := _chosen(stated, order, "place")):
        fields["place"] = place
    return msgspec.structs.replace(record, fields=fields) if fields != record.fields else record


def _chosen(stated: Sequence[Statement], order: int, name: str) -> str:
    told = [(one.order, str(getattr(one, name))) for one in stated if getattr(one, name)]
    above = [value for place, value in told if place <= order]
    if above:
        return above[-1]
    return told[0][1] if len({value for _, value in told}) == 1 else ""
