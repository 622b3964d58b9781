"""Saved pages for the adapters of the events vertical, read on one Sunday in November."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tidemill.core.page import Page
from tidemill.core.record import Found, Reading
from tidemill.core.source import Coordinates, Source
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Context
from tidemill.verticals.events.definition import EVENTS
from tidemill.verticals.events.record import Event

PAGES = Path(__file__).parent / "pages"
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
SOURCE = Source(
    id=7, name="Waterdrecht", vertical="events", base_url="https://www.waterdrecht.nl", adapter_id="events.generic",
    coordinates=Coordinates(51.81, 4.69),
)  # fmt: skip
CONTEXT = Context(SOURCE, "https://www.waterdrecht.nl/agenda", NOON)


class Golden:
    """Reads a saved page by name, and judges what it yields."""

    def read(self, name: str) -> Reading:
        body = (PAGES / f"{name}.html").read_bytes()
        page = Page(
            id=1, url=CONTEXT.page_url, final_url=CONTEXT.page_url, status_code=200, body=body, charset="utf-8",
            content_type="text/html; charset=utf-8", digest=1, fetched_at=NOON,
        )  # fmt: skip
        return EVENTS.adapters["events.generic"].read(page, CONTEXT)

    def found(self, name: str) -> Found:
        reading = self.read(name)
        assert isinstance(reading, Found), reading
        return reading

    def events(self, name: str) -> list[Event]:
        verdicts = [EVENTS.judge(record, CONTEXT) for record in self.found(name).records]
        assert all(isinstance(verdict, Accepted) for verdict in verdicts), verdicts
        return [verdict.record for verdict in verdicts if isinstance(verdict, Accepted)]


@pytest.fixture
def golden() -> Golden:
    return Golden()
