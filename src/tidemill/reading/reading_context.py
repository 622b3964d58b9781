"""What reading a page needs beside the page itself."""

from datetime import datetime

import msgspec

from tidemill.reading.moments import in_zone, zone_of


class ReadingContext(msgspec.Struct, frozen=True, kw_only=True):
    """The day a page is read on, and the zone and the language it was written in."""

    now: datetime
    time_zone: str = "Europe/Amsterdam"
    language: str = "nl"
    day_first: bool | None = None

    @property
    def today(self) -> str:
        """The day in the source's zone, as ISO 8601 writes it."""
        return in_zone(self.now, zone_of(self.time_zone)).date().isoformat()
