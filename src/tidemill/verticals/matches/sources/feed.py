"""Any feed of matches in JSON."""

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Reading, Strategy
from tidemill.core.vertical import Context
from tidemill.reading import blocked
from tidemill.reading.document import Document
from tidemill.verticals.matches.reading.match_json import matches_in
from tidemill.verticals.matches.reading.script_state import decoded
from tidemill.verticals.matches.sources.raw_matches import reading_of


class JsonFeed:
    """Reads a list or one match from JSON, whatever its parts are called among the usual names."""

    id = "matches.feed"
    version = "1.2.0"
    domain = "*"
    needs_browser = False

    def read(self, page: Page, context: Context) -> Reading:
        """Return the matches, or why there are none."""
        value = decoded(page.body)
        if not isinstance(value, dict | list):
            refusal = blocked(Document.of(page))
            return refusal if refusal is not None else Fail(Failure.LAYOUT_CHANGED, "the answer is not JSON")
        empty = value == [] or (isinstance(value, dict) and any(part == [] for part in value.values()))
        found = matches_in(value)
        return reading_of(found, context, strategy=Strategy.DATASET, sure=1.0, place="json", empty=empty, told=(value,))
