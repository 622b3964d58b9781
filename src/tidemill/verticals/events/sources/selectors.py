"""The adapter for a site whose selectors a person wrote down: those and nothing else."""

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Reading
from tidemill.core.vertical import Context
from tidemill.reading import Document, read_selectors
from tidemill.verticals.events.reading.events import found as found_on_page
from tidemill.verticals.events.sources.generic import is_markup, nothing_found, selectors_of


class SelectorEventAdapter:
    """Reads only what the source's `selectors` setting points at, so that drift shows at once."""

    id = "events.selectors"
    version = "1.0.0"
    domain = "*"
    needs_browser = False

    def read(self, page: Page, context: Context) -> Reading:
        """The blocks that the selectors find; a selector that is no CSS fails with its own words."""
        if not is_markup(page.content_type):
            return Fail(Failure.NOT_HTML, page.content_type)
        spec = selectors_of(context)
        if not spec:
            return Fail(Failure.ADAPTER_CRASHED, "the source has no `selectors` in its adapter settings")
        document = Document.of(page)
        try:
            records = read_selectors(document, spec)
        except ValueError as error:
            return Fail(Failure.ADAPTER_CRASHED, str(error))
        found = found_on_page(document, records)
        return found if records else nothing_found(document, spec, found)
