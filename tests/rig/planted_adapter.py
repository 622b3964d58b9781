"""An adapter whose version and mistakes a test sets: what a careless change of an adapter would do."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, ClassVar

import msgspec

from tidemill.core.page import Page
from tidemill.core.record import Found, RawRecord, Reading
from tidemill.core.vertical import Context
from tidemill.verticals.events.definition import EVENTS
from tidemill.verticals.prices.definition import PRICES

NAME = "adapter:rig.planted_adapter:PlantedAdapter"
Fields = dict[str, Any]
Mistake = Callable[[int, Fields], Sequence[Fields]]
GENERIC = {"events": EVENTS.adapters["events.generic"], "prices": PRICES.adapters["prices.generic"]}


class PlantedAdapter:
    """Reads as the generic adapter does, but for the mistake of its version."""

    id = NAME
    version = "1.0.0"
    domain = "*"
    needs_browser = False
    mistake: ClassVar[Mistake | None] = None

    def read(self, page: Page, context: Context) -> Reading:
        """The page's records, each with the mistake made."""
        found = GENERIC[context.source.vertical].read(page, context)
        mistake = PlantedAdapter.mistake
        if mistake is None or not isinstance(found, Found):
            return found
        made: list[RawRecord] = []
        for number, raw in enumerate(found.records):
            made += [msgspec.structs.replace(raw, fields=fields) for fields in mistake(number, dict(raw.fields))]
        return msgspec.structs.replace(found, records=made)


@contextmanager
def planted(version: str, mistake: Mistake | None = None) -> Iterator[None]:
    """Install another version while entered."""
    before = PlantedAdapter.version, PlantedAdapter.mistake
    PlantedAdapter.version, PlantedAdapter.mistake = version, mistake
    try:
        yield
    finally:
        PlantedAdapter.version, PlantedAdapter.mistake = before


def swap_fields(_: int, fields: Fields) -> list[Fields]:
    """Take the title for the place and the place for the title."""
    return [{**fields, "title": fields.get("place", "?"), "place": fields["title"]}]


def lose_a_tenth(number: int, fields: Fields) -> list[Fields]:
    """Overlook every tenth record."""
    return [] if number % 10 == 0 else [fields]


def a_day_off(_: int, fields: Fields) -> list[Fields]:
    """Read every date a day late."""
    starts = datetime.fromisoformat(str(fields["starts"])) + timedelta(days=1)
    return [{**fields, "starts": starts.isoformat()}]


def read_navigation(number: int, fields: Fields) -> list[Fields]:
    """Take a link of the navigation beside every third record for one."""
    link = {**fields, "title": f"Show page {number} of our archive", "url": f"/archive/{number}"}
    return [fields, link] if number % 3 == 0 else [fields]


def price_in_cents(_: int, fields: Fields) -> list[Fields]:
    """Take the price for an amount of cents that was written without its point."""
    return [{**fields, "price": f"{float(fields['price']) * 100:.2f}"}]


def other_currency(_: int, fields: Fields) -> list[Fields]:
    """Read every amount as one of euros."""
    return [{**fields, "currency": "EUR"}]


def brand_for_title(_: int, fields: Fields) -> list[Fields]:
    """Take the brand for the title."""
    return [{**fields, "title": fields["brand"], "brand": fields["title"]}]


def refactored(_: int, fields: Fields) -> list[Fields]:
    """Read the same by other code."""
    return [dict(reversed(fields.items()))]
