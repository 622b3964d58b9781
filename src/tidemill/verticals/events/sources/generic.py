"""The adapter for any agenda: structured data first, then the source's selectors, then a good look at the page."""

from typing import Any

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, Reading
from tidemill.core.vertical import Context
from tidemill.reading import Document, ReadingContext, blocked, declares_empty
from tidemill.verticals.events.reading.events import read_events


class GenericEventAdapter:
    """Reads any page that lists events or tells of one.

    Settings of the source: `selectors`, a specification for `tidemill.reading.selectors`; its `empty` is a
    selector that matches only when the agenda is empty.
    """

    id = "events.generic"
    version = "1.2.0"
    domain = "*"
    needs_browser = False

    def read(self, page: Page, context: Context) -> Reading:
        """The events on the page; a declared empty agenda is told from a layout we do not know."""
        if not is_markup(page.content_type):
            return Fail(Failure.NOT_HTML, page.content_type)
        document = Document.of(page)
        selectors = selectors_of(context)
        found = read_events(document, reading_context_of(context), selectors)
        return found if found.records else nothing_found(document, selectors, found)


def nothing_found(document: Document, selectors: dict[str, Any], found: Found) -> Reading:
    """Why a page yielded nothing: it is blocked, it says that it is empty, or its layout is new to us."""
    if refusal := blocked(document):
        return refusal
    if words := declares_empty(document, str(selectors.get("empty", ""))):
        notes = (*found.notes, f"the page says: {words}")
        return Found(records=(), declared_empty=True, truncated=found.truncated, notes=notes)
    said = "; ".join(found.notes)
    return Fail(Failure.LAYOUT_CHANGED, f"no events, and no word that there are none{': ' + said if said else ''}")


def reading_context_of(context: Context) -> ReadingContext:
    """What the reading library must know about the source and the day."""
    source = context.source
    european = source.language == "en" and source.time_zone.startswith("Europe/")
    return ReadingContext(
        now=context.read_at,
        time_zone=source.time_zone,
        language=source.language,
        day_first=True if european else None,
    )


def selectors_of(context: Context) -> dict[str, Any]:
    """The source's selector specification; empty when it has none."""
    spec = context.source.adapter_settings.get("selectors")
    return dict(spec) if isinstance(spec, dict) else {}


def is_markup(content_type: str) -> bool:
    """Whether a response's type promises text that events can be read from; no type at all is given a try."""
    kind = content_type.partition(";")[0].strip().lower()
    return not kind or kind.startswith("text/") or "html" in kind or "xml" in kind or kind.endswith("json")
