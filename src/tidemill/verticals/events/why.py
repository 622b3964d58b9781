"""Explains an event or one of its fields: the page, the position on it, the rule, the changes."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tidemill.core.outcome import Fail
from tidemill.core.record import Found, RawRecord
from tidemill.core.source import Source
from tidemill.core.vertical import Context
from tidemill.core.views import HistoryView
from tidemill.operations.mistakes import NotFound, parse_key, require_found, unknown_name
from tidemill.operations.why.explanation import Explainer, Explanation, Step, format_moment, info_step
from tidemill.operations.why.work import reading_step
from tidemill.pipeline.ports import Clock
from tidemill.pipeline.reader_functions.dry_readings import JUDGED, RecordsToJudge
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.store.views.views import Views
from tidemill.verticals.events.store.views import EventViews
from tidemill.verticals.events.views import EventDetail

MAX_VALUE_LENGTH = 200


def event_explainer(events: EventViews, views: Views, readers: FunctionReaders, clock: Clock) -> Explainer:
    """Return the explainer of `event:ID` and `event:ID.FIELD`."""

    async def explain(name: str) -> Explanation:
        key, _, field = name.partition(".")
        detail = require_found(await events.event(parse_key("event", key)), "event", key)
        source = await views.source(detail.event.source_id, clock.now())
        found = await views.found(detail.event.page_id)
        raw = await raw_of(detail, found, source.source if source else None, readers)
        return why_event(detail, field or None, raw)

    return Explainer("event", "event:ID or event:ID.FIELD", explain, is_record=True)


def why_event(detail: EventDetail, field: str | None, raw: RawRecord | None) -> Explanation:
    """Explain where an event was read, and for a field where on the page it was and how it changed."""
    record = msgspec.json.decode(detail.event.record)
    if field is not None and field not in record:
        raise NotFound(unknown_name("field", field, record))
    steps = [
        *_page(detail),
        *_origin(raw, field),
        _rule(record),
        *_sightings(detail),
        *(_change(each, field) for each in detail.history if field is None or field in each.changes),
    ]
    subject = f"event {detail.event.id}" + (f".{field}" if field else "")
    whole = f"{detail.event.title!r} {_state(detail)}"
    return Explanation(subject, whole if field is None else f"{field} is {short(record[field])}", steps)


async def raw_of(
    detail: EventDetail, found: Found | None, source: Source | None, readers: FunctionReaders
) -> RawRecord | None:  # fmt: skip
    """Return the raw record of the event: the one on its page with the same identity."""
    if found is None or source is None or detail.page is None:
        return None
    page = detail.page.page
    context = Context(source, page.final_url or page.url, page.created_at)
    judged = await readers.call(JUDGED, RecordsToJudge("events", found.records, context))
    if isinstance(judged, Fail):
        return None
    same = (raw for raw, each in zip(found.records, judged, strict=True) if each.identity == detail.event.identity)
    return next(same, None)


def _state(detail: EventDetail) -> str:
    event = detail.event
    if event.gone_at is not None:
        return f"is gone since {format_moment(event.gone_at)}: complete runs in a row did not see it"
    if event.missed_runs:
        return f"is listed, though {event.missed_runs} complete runs in a row did not see it"
    return f"is listed; last seen {format_moment(event.last_seen_at)}"


def _page(detail: EventDetail) -> list[Step]:
    event = detail.event
    if detail.page is None:
        return [info_step("page", f"page {event.page_id} of source {event.source_name}; retention has let it go")]
    page = detail.page.page
    words = f"page {page.id} of source {event.source_name}: {page.final_url}, fetched {format_moment(page.created_at)}"
    reading = [reading_step(detail.page.reading)] if detail.page.reading is not None else []
    return [info_step("page", words), *reading]


def _origin(raw: RawRecord | None, field: str | None) -> list[Step]:
    if raw is None:
        return [info_step("place", "where on the page it stood is no longer known")]
    words = f"read by {raw.strategy} at {raw.origin}, confidence {raw.confidence:g}"
    if field is None:
        return [info_step("place", words)]
    steps = [info_step("place", words)]
    steps += [info_step("place", f"{name}: {place}") for name, place in raw.places.items() if related(name, field)]
    steps += [info_step("candidate", f"{name}: {short(value)}") for name, value in raw.fields.items()
              if related(name, field)]  # fmt: skip
    return steps


RELATED: Mapping[str, tuple[str, ...]] = {
    "event_date": ("start", "end", "date", "time"),
    "event_time": ("start", "end", "date", "time"),
    "ends_at": ("start", "end", "date", "time"),
    "structured_date": ("start", "end", "date", "time"),
    "venue_name": ("venue", "location", "place", "address"),
    "structured_location": ("venue", "location", "place", "address"),
    "latitude": ("geo", "latitude", "location"),
    "longitude": ("geo", "longitude", "location"),
    "category": ("category", "type", "title", "name", "description", "keywords"),
    "title": ("title", "name"),
    "detail_url": ("url", "link"),
    "image_url": ("image",),
}
"""The words in raw field names that belong to a field of an event; other fields match by their own name."""


def related(raw_field: str, field: str) -> bool:
    """Return whether a raw field contributes to a field of the event."""
    return any(word in raw_field.lower() for word in RELATED.get(field, (field.removesuffix("_url"),)))


def _rule(record: Mapping[str, Any]) -> Step:
    words = f"judged by {record.get('normalization_method', 'rules')}, confidence {record.get('confidence', 1):g}"
    return info_step("rule", f"{words}; place known to {record.get('location_precision', 'unknown')} precision")


def _sightings(detail: EventDetail) -> list[Step]:
    event = detail.event
    first, last = format_moment(event.first_seen_at), format_moment(event.last_seen_at)
    return [info_step("sightings", f"seen {event.times_seen} times, first {first}, last {last}")]


def _change(each: HistoryView, field: str | None) -> Step:
    changes = {name: each.changes[name] for name in each.changes if field is None or name == field}
    described = ", ".join(f"{name} from {short(old)} to {short(new)}" for name, (old, new) in changes.items())
    page = f", page {each.page_id}" if each.page_id else ""
    return Step(
        "history",
        None,
        f"{format_moment(each.created_at)} {each.kind} by run {each.run_id}{page}: {described or 'nothing else'}",
    )


def short(value: object) -> str:
    """Return a value as JSON, shortened."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 1] + "…"
