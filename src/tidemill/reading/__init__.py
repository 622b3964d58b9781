"""READ: what a page says, without deciding what it is worth. Pure, and a library of its own.

    from tidemill.reading import Document, Setting, parse_moment, read_events

    found = read_events(Document(html, "https://example.org/agenda"), Setting(now=now))
    for record in found.records:
        print(record.fields["title"], record.fields["starts"], record.strategy, record.places)

    parse_moment("zaterdag 20 t/m maandag 22 november, 20.30 uur", now)

Every strategy keeps where each field was read; nothing here asks the clock, the network or the disk.
"""

from tidemill.reading.blocked import blocked
from tidemill.reading.document import Document, absolute
from tidemill.reading.emptiness import declares_empty
from tidemill.reading.events import from_jsonld, from_microdata, read_events
from tidemill.reading.heuristics import read_heuristics
from tidemill.reading.identifiers import as_gtin, scheme_of
from tidemill.reading.moments import Grain, Moment, find_moments, parse_end, parse_moment, parse_moments
from tidemill.reading.money import Money, parse_money
from tidemill.reading.products import NoOffer, Product, ProductReading, read_product, read_products
from tidemill.reading.selectors import read_selectors
from tidemill.reading.setting import Setting
from tidemill.reading.stock import Availability, availability_in

__all__ = [
    "Availability",
    "Document",
    "Grain",
    "Moment",
    "Money",
    "NoOffer",
    "Product",
    "ProductReading",
    "Setting",
    "absolute",
    "as_gtin",
    "availability_in",
    "blocked",
    "declares_empty",
    "find_moments",
    "from_jsonld",
    "from_microdata",
    "parse_end",
    "parse_moment",
    "parse_moments",
    "parse_money",
    "read_events",
    "read_heuristics",
    "read_product",
    "read_products",
    "read_selectors",
    "scheme_of",
]
