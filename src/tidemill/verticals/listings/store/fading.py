"""Confidence in SQL: the very expression of `core.freshness`, so that one statement judges any number of rows."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Integer, and_, case, literal, or_, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from tidemill.core.freshness import MICROS_AN_HOUR, SEEN, VERIFIED, ConfidenceDecay, time_until_below
from tidemill.store.database.column_types import Timestamp
from tidemill.verticals.listings.store.tables import listings, market_configs

ACTIVE = text("listings.is_active")
"""As its indexes say it: another spelling of the same would not find them."""


class micros_between(FunctionElement[int]):  # noqa: N801 - a function of SQL, and named as one
    """Whole microseconds from the second moment to the first, exact on both databases."""

    type = BigInteger()
    inherit_cache = True


@compiles(micros_between, "sqlite")
def _on_sqlite(element: Any, compiler: Any, **options: Any) -> str:
    later, earlier = element.clauses
    return f"({compiler.process(later, **options)} - {compiler.process(earlier, **options)})"


@compiles(micros_between, "postgresql")
def _on_postgres(element: Any, compiler: Any, **options: Any) -> str:
    later, earlier = element.clauses
    span = f"({compiler.process(later, **options)} - {compiler.process(earlier, **options)})"
    return f"CAST(EXTRACT(EPOCH FROM {span}) * 1000000 AS BIGINT)"


def rate_of(fading: ConfidenceDecay, tier: ColumnElement[str]) -> ColumnElement[int]:
    """Points an hour by tier; a tier that nobody named fades as fast as any."""
    return case(
        *((tier == name, literal(rate, Integer)) for name, rate in sorted(fading.rates.items())),
        else_=literal(max(fading.rates.values()), Integer),
    )


def faded(worth: int, rate: ColumnElement[int], elapsed: ColumnElement[int]) -> ColumnElement[int]:
    """What is left of a worth, never under 0; what lies ahead of us has lost nothing."""
    left = literal(worth, Integer) - rate * elapsed // MICROS_AN_HOUR
    return case((elapsed <= 0, literal(worth, Integer)), (left < 0, literal(0, Integer)), else_=left)


def confidence(fading: ConfidenceDecay, now: datetime) -> ColumnElement[int]:
    """How sure we are of a listing, from 0 to 100, of rows of `listings` joined with their market."""
    rate = rate_of(fading, market_configs.c.tier)
    present = literal(now, Timestamp())
    by_sight = faded(SEEN, rate, micros_between(present, listings.c.last_seen_at))
    by_check = faded(VERIFIED, rate, micros_between(present, listings.c.verified_at))
    return case((and_(listings.c.verified_at.is_not(None), by_check > by_sight), by_check), else_=by_sight)


def at_least(fading: ConfidenceDecay, level: int, now: datetime) -> ColumnElement[bool]:
    """Whether confidence is `level` or more, as bare comparisons with moments."""
    return or_(
        listings.c.last_seen_at > _lost_at(fading, SEEN, level, now),
        listings.c.verified_at > _lost_at(fading, VERIFIED, level, now),
    )


def below(fading: ConfidenceDecay, level: int, now: datetime) -> ColumnElement[bool]:
    """Whether confidence is under `level`; from each market an index leads straight to those rows."""
    return and_(
        listings.c.last_seen_at <= _lost_at(fading, SEEN, level, now),
        or_(listings.c.verified_at.is_(None), listings.c.verified_at <= _lost_at(fading, VERIFIED, level, now)),
    )


def _lost_at(fading: ConfidenceDecay, worth: int, level: int, now: datetime) -> ColumnElement[datetime]:
    """The moment at or before which a sighting, or a check, no longer amounts to `level`, by the market's tier."""
    moments = {
        tier: literal(now - time_until_below(worth, rate, level), Timestamp())
        for tier, rate in sorted(fading.rates.items())
    }
    fastest = literal(now - time_until_below(worth, max(fading.rates.values()), level), Timestamp())
    return case(*((market_configs.c.tier == tier, moment) for tier, moment in moments.items()), else_=fastest)
