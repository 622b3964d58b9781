"""The statements by which checkpoints move breakers."""

from typing import Any

from tidemill.store.database.codecs import BIGINT, codecs_of
from tidemill.store.database.hot_statements import HotQuery, HotRows, ListOf
from tidemill.store.schema import breakers

NEW_BREAKER: dict[str, Any] = {
    "state": "CLOSED", "failure_count": 0, "success_count": 0, "cooldown_until": None, "consecutive_opens": 0,
    "last_failure_at": None, "changed_at": None, "total_calls": 0, "total_successes": 0, "total_failures": 0,
}  # fmt: skip
"""A source that has never failed."""
_BREAKER = codecs_of(breakers)
HOLD_BREAKERS = HotQuery(
    "breakers.hold",
    sqlite=f"SELECT {', '.join(_BREAKER)} FROM circuit_breaker_state"
    " WHERE source_id IN (SELECT value FROM json_each(?1)) ORDER BY source_id",
    postgres=f"SELECT {', '.join(_BREAKER)} FROM circuit_breaker_state"
    " WHERE source_id = ANY ($1::bigint[]) ORDER BY source_id FOR UPDATE",
    takes={"sources": ListOf(BIGINT)},
    gives=_BREAKER,
)
RECORD_BREAKERS = HotRows(
    "breakers.record",
    codecs_of(breakers, "source_id", *NEW_BREAKER),
    "INSERT INTO circuit_breaker_state ({columns}) {rows} ON CONFLICT (source_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in NEW_BREAKER),
)
