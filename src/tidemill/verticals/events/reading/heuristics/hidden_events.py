"""Events that a page's layout does not show: in the JSON of its scripts, in drop-downs, in a sentence of its text."""

import re
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborNode

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.document import Document
from tidemill.reading.embedded_json import values_in
from tidemill.reading.moments import Grain, Moment, parse_moment
from tidemill.reading.outline import Element
from tidemill.reading.reading_context import ReadingContext
from tidemill.reading.text import squash
from tidemill.verticals.events.reading.heuristics.dating import moments_in
from tidemill.verticals.events.reading.heuristics.record_builder import RecordBuilder
from tidemill.verticals.events.reading.heuristics.wording import title_from

_MOST = 500
_TITLES = ("title", "name", "summary", "subject", "eventname", "event_title", "eventtitle", "headline")
_STARTS = (
    "start", "startdate", "start_date", "starttime", "start_time", "startdatetime", "starts", "startsat", "starts_at",
    "begin", "begindate", "eventdate", "event_date", "dtstart", "datestart", "date_start", "date",
)  # fmt: skip
_ENDS = ("end", "enddate", "end_date", "endtime", "end_time", "enddatetime", "ends", "endsat", "dateend", "date_end")
_PLACES = ("location", "venue", "place", "locationname", "venue_name", "address")
_URLS = ("url", "link", "permalink", "href", "detailurl")
_STAMP = re.compile(r"(?:19|20)\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?|(?:19|20)\d{6}T\d{4,6}Z?")
_SCRIPT = re.compile(r"[\"'](?:start|begin|event_?date|dtstart|date)", re.IGNORECASE)
_LARGEST, _MOST_SCRIPTS, _MOST_VALUES = 1_500_000, 40, 50_000
_FEW_OPTIONS, _MOST_OPTIONS, _LONGEST_OPTION = 2, 400, 120
_LONGEST_SENTENCE = 400
_ANNOUNCES = re.compile(
    r"\b(?:next|upcoming)\b[^.]{0,60}\b(?:meeting|session|hearing|event|concert|class|market)\b"
    r"|\bwill (?:be held|meet|take place)"
    r"|\b(?:is|are) (?:scheduled|held) (?:for|on)\b|\b(?:eerst)?volgende\b[^.]{0,40}\b(?:vergadering|bijeenkomst|avond)"
    r"|\bvind(?:t|en)\b[^.]{0,80}\bplaats|\bwordt gehouden\b|\bfindet\b[^.]{0,80}\bstatt\b|\baura lieu\b",
    re.IGNORECASE,
)


def hidden_events(document: Document, elements: list[Element], builder: RecordBuilder) -> list[RawRecord]:
    """The events of the first of these that has any; asked only where the layout shows none."""
    for records in (
        _in_scripts(document, builder.context),
        _in_options(document, elements, builder),
        _in_sentences(elements, builder),
    ):
        if records:
            return records[:_MOST]
    return []


def _in_scripts(document: Document, context: ReadingContext) -> list[RawRecord]:
    best: list[RawRecord] = []
    scripts = [one for one in document.css("script") if not one.attributes.get("src")]
    for index, script in enumerate(scripts[:_MOST_SCRIPTS]):
        text = script.text(deep=True) or ""
        if "ld+json" in (script.attributes.get("type") or "") or len(text) > _LARGEST or not _SCRIPT.search(text):
            continue
        for value in values_in(text):
            for path, items in _lists_in(value):
                origin = f"script/{index}{path}"
                named = (_event_of(item, f"{origin}/{at}", document) for at, item in enumerate(items[:_MOST]))
                best = max(best, [record for record in named if record is not None], key=len)
    dated = [one for one in best if parse_moment(str(one.fields["starts"]), context.now, context.time_zone) is not None]
    return dated if 2 * len(dated) > len(best) else []


def _lists_in(value: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    pending: list[tuple[str, Any]] = [("", value)]
    for _ in range(_MOST_VALUES):
        if not pending:
            return
        path, current = pending.pop()
        if isinstance(current, dict):
            pending.extend((f"{path}/{key}", each) for key, each in current.items() if isinstance(each, dict | list))
        elif isinstance(current, list):
            if objects := [item for item in current if isinstance(item, dict)]:
                yield path, objects
            pending.extend((f"{path}/{at}", each) for at, each in enumerate(current) if isinstance(each, dict | list))


def _event_of(item: dict[str, Any], origin: str, document: Document) -> RawRecord | None:
    """An object as an event: it has a title, and a start that is written as machines write it."""
    lowered = {str(key).lower().replace("-", "_"): value for key, value in item.items()}
    title = next((text for key in _TITLES if (text := _text(lowered.get(key)))), "")
    starts = next((text for key in _STARTS if _STAMP.fullmatch(text := _text(lowered.get(key)))), "")
    if not title or not starts or len(title) > _LONGEST_OPTION * 2:
        return None
    fields: dict[str, object] = {"title": title, "starts": starts}
    if ends := next((text for key in _ENDS if _STAMP.fullmatch(text := _text(lowered.get(key)))), ""):
        fields["ends"] = ends
    if place := next((text for key in _PLACES if (text := _text(lowered.get(key)))), ""):
        fields["place"] = place[:200]
    if url := next((text for key in _URLS if (text := _text(lowered.get(key)))), ""):
        fields["url"] = document.absolute(url)
    return RawRecord(
        fields=fields, strategy=Strategy.HEURISTICS, confidence=0.65, origin=origin,
        places=dict.fromkeys(fields, origin),
    )  # fmt: skip


def _text(value: Any) -> str:
    """A value as text: a string, or the name in an object such as a venue."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("name", "title", "rendered", "address", "date") if key in value), "")
    return squash(re.sub(r"<[^<>]*>", " ", value)) if isinstance(value, str) else ""


def _in_options(document: Document, elements: list[Element], builder: RecordBuilder) -> list[RawRecord]:
    """The dates that a drop-down lists, named by the page."""
    title = builder.block_context.subject
    for index, choice in enumerate(document.css("select")[:20]):
        dated = list(_dated_options(choice, builder.context))
        if len(dated) < _FEW_OPTIONS:
            continue
        records = []
        for place, (text, moment) in enumerate(dated):
            name = title_from(text) or title
            if name:
                origin = f"heuristics/select/{index}/{place}[{len(elements) - 1}]"
                records.append(_record(name, moment, text, origin, 0.4))
        return records
    return []


def _dated_options(choice: LexborNode, context: ReadingContext) -> Iterator[tuple[str, Moment]]:
    for option in choice.css("option")[:_MOST_OPTIONS]:
        text = squash(option.text())
        found = moments_in(text, context) if len(text) <= _LONGEST_OPTION else ()
        if found:
            yield text, found[0][2]


def _in_sentences(elements: list[Element], builder: RecordBuilder) -> list[RawRecord]:
    """The dates in sentences that announce something: `The next meeting will be held on ...`."""
    found: dict[tuple[str, str], RawRecord] = {}
    for element in elements:
        text = element.text
        if not 0 < len(text) <= 2 * _LONGEST_SENTENCE or not _ANNOUNCES.search(text) or _has_parts(element):
            continue
        title = builder.block_context.title_over(element)
        for sentence in re.split(r"(?<=[a-z\d)]{2}\.)\s+(?=[A-Z])", text):
            if not title or len(sentence) > _LONGEST_SENTENCE or not _ANNOUNCES.search(sentence):
                continue
            for _, _, moment in moments_in(sentence, builder.context)[:1]:
                record = builder.record(element, title, None, moment, sentence, 0.4)
                found.setdefault((title, str(record.fields["starts"])), record)
    return list(found.values())


def _has_parts(element: Element) -> bool:
    return any(child.tag in {"p", "div", "li", "ul", "table", "section"} for child in element.children)


def _record(title: str, moment: Moment, written: str, origin: str, confidence: float) -> RawRecord:
    timed = moment.grain is Grain.MINUTE
    starts = moment.starts.isoformat(timespec="minutes") if timed else moment.day.isoformat()
    fields = {"title": title, "starts": starts, "written": written[:200]}
    return RawRecord(
        fields=fields, strategy=Strategy.HEURISTICS, confidence=confidence, origin=origin,
        places=dict.fromkeys(fields, origin),
    )  # fmt: skip
