"""The statements that every event goes through. A field that gets a column is one line in `TOLD`."""

from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from tidemill.store.database.codecs import BIGINT, INTEGER, MOMENT, Codec, codecs_of
from tidemill.store.database.column_types import to_micros
from tidemill.store.database.hot_statements import HotQuery, HotRows, ListOf
from tidemill.verticals.events.store.tables import events

NAMES = {"source_id": "job.source_id", "identity": "identity", "identity_hash": "identity_hash"}
"""The columns that say which event it is, and where an item on its way to the repository has them."""
TOLD = {
    "event_fingerprint": "event.fingerprint",
    "title": "event.title",
    "event_date": "event.event_date",
    "ends_at": "event.ends_at",
    "event_time": "event.event_time",
    "venue_name": "event.venue_name",
    "category": "event.category",
    "latitude": "event.latitude",
    "longitude": "event.longitude",
    "status": "event.status",
    "checksum": "checksum",
    "record": "encoded",
    "page_id": "page_id",
}
"""The columns that a page fills: what readers filter and sort by, and the record itself."""
SEEN_AGAIN = ("last_seen_at", "updated_at")
SEEN_FIRST = ("first_seen_at", *SEEN_AGAIN)


@lru_cache(maxsize=4_096)
def _micros(moment: datetime, _fold: int) -> int:
    """Agendas name the same hours again and again. On the night when clocks go back, two hours differ by fold alone."""
    return to_micros(moment)


def _agenda_micros(moment: datetime | None) -> int | None:
    return None if moment is None else _micros(moment, moment.fold)


def _codecs(*names: str) -> dict[str, Codec]:
    """The columns' codecs, with the quickest way to SQLite, whose driver asks an enum how it wants to be written."""
    quicker = {"category": str, "status": str}
    return {
        name: msgspec.structs.replace(codec, to_sqlite=_agenda_micros if codec is MOMENT else quicker.get(name))
        for name, codec in codecs_of(events, *names).items()
    }


INSERT_EVENTS = HotRows(
    "events.insert", _codecs("id", *NAMES, *TOLD, *SEEN_FIRST), "INSERT INTO events ({columns}) {rows}"
)
"""PostgreSQL gets its rows by COPY instead."""
UPDATE_EVENTS = HotRows(
    "events.update",
    _codecs("id", *TOLD, *SEEN_AGAIN),
    "WITH v ({columns}) AS ({rows}) UPDATE events SET times_seen = events.times_seen + 1, missed_runs = 0,"
    f" gone_at = NULL, {', '.join(f'{name} = v.{name}' for name in (*TOLD, *SEEN_AGAIN))}"
    " FROM v WHERE events.id = v.id",
)
KNOWN_EVENTS = HotRows(
    "events.known",
    codecs_of(events, "source_id", "identity_hash"),
    "WITH v ({columns}) AS ({rows}) SELECT e.id, e.source_id, e.identity, e.checksum, e.gone_at"
    " FROM v JOIN events e ON e.source_id = v.source_id AND e.identity_hash = v.identity_hash",
    gives=codecs_of(events, "id", "source_id", "identity", "checksum", "gone_at"),
)
EVENTS_BEFORE = HotQuery(
    "events.before",
    sqlite="SELECT id, record FROM events WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id",
    postgres="SELECT id, record FROM events WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE",
    takes={"ids": ListOf(BIGINT)},
    gives=codecs_of(events, "id", "record"),
)
_SEEN: dict[str, Any] = {
    mark: f"UPDATE events SET last_seen_at = {mark}1, times_seen = times_seen + 1, missed_runs = 0, gone_at = NULL"
    for mark in "?$"
}
SEE_EVENTS = HotQuery(
    "events.see",
    sqlite=f"{_SEEN['?']} WHERE id IN (SELECT value FROM json_each(?2))",
    postgres=f"{_SEEN['$']} WHERE id = ANY ($2::bigint[])",
    takes={"now": MOMENT, "ids": ListOf(BIGINT)},
)
SEE_EVENTS_OF_SOURCE = HotQuery(
    "events.see_of_source",
    sqlite=f"{_SEEN['?']} WHERE source_id = ?2 AND identity_hash IN (SELECT value FROM json_each(?3))",
    postgres=f"{_SEEN['$']} WHERE source_id = $2 AND identity_hash = ANY ($3::bigint[])",
    takes={"now": MOMENT, "source_id": BIGINT, "hashes": ListOf(BIGINT)},
)
_ITS_UNSEEN = "events.source_id = scrape_runs.source_id AND events.last_seen_at < scrape_runs.started_at"
UNSEEN_EVENTS = HotQuery(
    "events.unseen",
    sqlite=f"""
        SELECT events.id, events.missed_runs, scrape_runs.id
        FROM scrape_runs CROSS JOIN events
        WHERE scrape_runs.id IN (SELECT value FROM json_each(?1)) AND {_ITS_UNSEEN}
            AND events.gone_at IS NULL AND events.event_date > ?2
        ORDER BY events.id LIMIT ?3 * json_array_length(?1)""",
    postgres=f"""
        SELECT its.id, its.missed_runs, scrape_runs.id
        FROM scrape_runs CROSS JOIN LATERAL (
            SELECT events.id, events.missed_runs FROM events
            WHERE {_ITS_UNSEEN} AND events.gone_at IS NULL AND coalesce(events.event_date, $2) > $2
            ORDER BY events.id LIMIT $3) AS its
        WHERE scrape_runs.id = ANY ($1::bigint[])
        ORDER BY its.id""",
    takes={"runs": ListOf(BIGINT), "now": MOMENT, "each": BIGINT},
    gives={"id": BIGINT, "missed_runs": INTEGER, "run_id": BIGINT},
)
"""What these runs did not see, so many each; both databases are made to look up one source after the other.

Left to itself, and without statistics, PostgreSQL reads all events of all sources instead; and it would read every
coming event by its date, if the date were not hidden in `coalesce`.
"""
