"""Pages that carry the state of their match in a script."""

from tidemill.core.page import Page
from tidemill.core.record import Reading, Strategy
from tidemill.core.vertical import Context
from tidemill.reading import blocked
from tidemill.reading.document import Document
from tidemill.verticals.matches.reading.match_json import matches_in
from tidemill.verticals.matches.reading.script_state import values_in_scripts
from tidemill.verticals.matches.sources.raw_matches import reading_of


class EmbeddedState:
    """Reads the JSON that a page's scripts begin with."""

    id = "matches.embedded"
    version = "1.2.0"
    domain = "*"
    needs_browser = False

    def read(self, page: Page, context: Context) -> Reading:
        """Return the matches, or why there are none."""
        document = Document.of(page)
        values = list(values_in_scripts(document))
        found = [fields for value in values for fields in matches_in(value)]
        if not found and (refusal := blocked(document)) is not None:
            return refusal
        empty = any(isinstance(value, dict) and [] in value.values() for value in values)
        return reading_of(
            found, context, strategy=Strategy.DATASET, sure=0.95, place="script", empty=empty, told=values
        )
