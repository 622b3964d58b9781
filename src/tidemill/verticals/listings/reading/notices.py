"""What the page of a home says of it when it is no longer there."""

from tidemill.core.page import Page
from tidemill.reading import Document, blocked
from tidemill.verticals.listings.reading.emptiness import removal_notice


def read_notice(page: Page) -> str | None:
    """Return the removal notice on a page, '' if there is none; None for a block page."""
    document = Document.of(page)
    if notice := removal_notice(document):
        return notice
    return None if blocked(document) else ""
