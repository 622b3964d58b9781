"""An adapter whose version and mistakes a test sets: what a careless change of an adapter would do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, ClassVar

import msgspec

from tidemill.core.page import Page
from tidemill.core.record import Found, RawRecord, Reading
from tidemill.core.vertical import Context
from tidemill.verticals.events.definition import EVENTS

NAME = "adapter:rig.planted_adapter:PlantedAdapter"
Mistake = Callable[[int, dict[str, Any]], dict[str, Any] | None]


class PlantedAdapter:
    """Reads as the generic adapter does, but for the mistake of its version."""

    id = NAME
    version = "1.0.0"
    domain = "*"
    needs_browser = False
    mistake: ClassVar[Mistake | None] = None

    def read(self, page: Page, context: Context) -> Reading:
        """The page's records, each with the mistake made."""
        found = EVENTS.adapters["events.generic"].read(page, context)
        mistake = PlantedAdapter.mistake
        if mistake is None or not isinstance(found, Found):
            return found
        made = [(raw, mistake(number, dict(raw.fields))) for number, raw in enumerate(found.records)]
        return msgspec.structs.replace(found, records=[_with(raw, fields) for raw, fields in made if fields])


def _with(raw: RawRecord, fields: dict[str, Any] | None) -> RawRecord:
    return msgspec.structs.replace(raw, fields=fields or {})


@contextmanager
def planted(version: str, mistake: Mistake | None = None) -> Iterator[None]:
    """Install another version while entered."""
    before = PlantedAdapter.version, PlantedAdapter.mistake
    PlantedAdapter.version, PlantedAdapter.mistake = version, mistake
    try:
        yield
    finally:
        PlantedAdapter.version, PlantedAdapter.mistake = before


def swap_fields(_: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Take the title for the place and the place for the title."""
    return {**fields, "title": fields.get("place", "?"), "place": fields["title"]}


def lose_a_tenth(number: int, fields: dict[str, Any]) -> dict[str, Any] | None:
    """Overlook every tenth record."""
    return None if number % 10 == 0 else fields


def a_day_off(_: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Read every date a day late."""
    starts = datetime.fromisoformat(str(fields["starts"])) + timedelta(days=1)
    return {**fields, "starts": starts.isoformat()}


def refactored(_: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Read the same by other code."""
    return dict(reversed(fields.items()))
