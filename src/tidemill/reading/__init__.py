"""READ: what a page says, without deciding what it is worth. Pure, and a library of its own.

    from tidemill.reading import Document, parse_moment, parse_money
    from tidemill.verticals.events.reading.events import read_events

    parse_moment("zaterdag 20 t/m maandag 22 november, 20.30 uur", now)
    parse_money("from £5 to £9")

What knows one kind of data stands in that vertical's own `reading` folder. Every strategy keeps where each field was
read; nothing here asks the clock, the network or the disk.
"""

from tidemill.reading.blocked import blocked
from tidemill.reading.document import Document, absolute
from tidemill.reading.emptiness import declares_empty
from tidemill.reading.identifiers import as_gtin, scheme_of
from tidemill.reading.moments import Grain, Moment, find_moments, parse_end, parse_moment, parse_moments
from tidemill.reading.money import Money, parse_money
from tidemill.reading.reading_context import ReadingContext
from tidemill.reading.selectors import read_selectors
from tidemill.reading.stock import Availability, availability_in

__all__ = [
    "Availability",
    "Document",
    "Grain",
    "Moment",
    "Money",
    "ReadingContext",
    "absolute",
    "as_gtin",
    "availability_in",
    "blocked",
    "declares_empty",
    "find_moments",
    "parse_end",
    "parse_moment",
    "parse_moments",
    "parse_money",
    "read_selectors",
    "scheme_of",
]
