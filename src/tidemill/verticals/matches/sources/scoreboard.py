"""Scoreboards that a script draws: read from the page as the browser shows it."""

from tidemill.core.page import Page
from tidemill.core.record import Reading, Strategy
from tidemill.core.vertical import Context
from tidemill.reading import blocked
from tidemill.reading.document import Document
from tidemill.verticals.matches.reading.board import boards_in, has_list
from tidemill.verticals.matches.sources.raw_matches import reading_of


class DrawnBoard:
    """Reads the rows of a scoreboard. Where its script asks a JSON address, `matches.feed` reads that instead."""

    id = "matches.scoreboard"
    version = "1.0.0"
    domain = "*"
    needs_browser = True

    def read(self, page: Page, context: Context) -> Reading:
        """Return the matches, or why there are none."""
        document = Document.of(page)
        given = context.source.adapter_settings.get("board")
        settings = given if isinstance(given, dict) else {}
        found = [fields for fields in boards_in(document, settings) if fields.get("teams")]
        if not found and (refusal := blocked(document)) is not None:
            return refusal
        return reading_of(
            found,
            context,
            strategy=Strategy.SELECTORS,
            sure=0.85,
            place="board",
            empty=has_list(document, settings),
        )
