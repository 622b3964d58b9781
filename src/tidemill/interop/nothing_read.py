"""Why other people's code read nothing from a page: it is blocked, says that it is empty, or looks different."""

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, Reading
from tidemill.reading import Document, blocked, declares_empty


def reason_for_nothing(page: Page, words: str) -> Reading:
    """Return the reading of a page that yielded no record."""
    document = Document.of(page)
    if refusal := blocked(document):
        return refusal
    if said := declares_empty(document, ""):
        return Found(records=(), declared_empty=True, notes=(f"the page says: {said}",))
    return Fail(Failure.LAYOUT_CHANGED, f"{words}, and the page does not say that it is empty")
