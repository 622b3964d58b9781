"""Rules about what is next, last or this one: `next Friday`, `last two months`, `this season`."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.reading.moments.grammar.token_values import number_of, of_kind, time_token
from tidemill.reading.moments.grammar.tokens import Token
from tidemill.reading.moments.grammar.when import Stretch, TimeConstraints, floor, is_date, resolved, unit_stretch

_TURNS = {">": 2, "<": -1, "=": 1}


def turned(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`next Friday`, `last Christmas`, `this winter`."""
    turn = next(token for token in tokens if token.kind in _TURNS)
    when = of_kind("T", tokens).value
    if when.weekday is None and when.feast is None and when.season is None:
        return None
    return time_token(msgspec.structs.replace(when, turn=_TURNS[turn.kind]))


def this_part(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`this evening`: a part of today."""
    when = tokens[-1].value
    if when.hours is None or is_date(when) or when.clock is not None:
        return None
    return time_token(msgspec.structs.replace(when, within=unit_stretch(now, "d", 0)))


def next_month(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`next March`, `last October`: the month of that name after this one, or before it."""
    month, turn = tokens[-1].value, tokens[0].kind
    year = now.year
    if turn == ">" and month <= now.month:
        year += 1
    if turn == "<" and month >= now.month:
        year -= 1
    return time_token(TimeConstraints(year=year, month=month))


def turned_unit(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`next week`, `this quarter`, `last year`."""
    turn, what = tokens if tokens[0].kind != "u" else reversed(tokens)
    steps = {">": 1, "}": 1, "<": -1, "%": -1, "=": 0}[turn.kind]
    unit = what.value
    if unit == "e":  # which weekend is meant depends on the word, which the search for moments knows
        return None
    return time_token(TimeConstraints(within=unit_stretch(now, unit, steps)))


def turned_units(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`next 3 weeks`, `last two months`: so many whole ones."""
    count, unit = int(number_of(tokens[1])), tokens[-1].value
    found = unit_stretch(now, unit, -count if tokens[0].kind in "<%" else 1, count)
    return time_token(TimeConstraints(within=Stretch(found.start, found.end, "D" if unit in "dwMqy" else "H")))


def upcoming(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`two upcoming weeks`: the unit that is so many from this one."""
    count, unit = int(number_of(of_kind("n", tokens))), of_kind("u", tokens).value
    return time_token(TimeConstraints(within=unit_stretch(now, unit, count)))


def unit_after_next(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the week after next`, `Friday after next`: the one behind the next."""
    what = tokens[0]
    if what.kind == "u":
        return time_token(TimeConstraints(within=unit_stretch(now, what.value, 2))) if what.value in "dwMqy" else None
    begins = floor(now, "d")
    begins += timedelta(days=((what.value - begins.weekday()) % 7 or 7) + 7)
    return time_token(TimeConstraints(within=Stretch(begins, begins + timedelta(days=1))))


def turned_season(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`this season`, `next season`."""
    seasons = [
        resolved(TimeConstraints(season=number, year=year), now)
        for year in (now.year - 1, now.year)
        for number in range(4)
    ]
    spans = sorted((span for span in seasons if span is not None), key=lambda span: span.start)
    here = next((place for place, span in enumerate(spans) if span.start <= now < span.end), None)
    step = {">": 1, "<": -1, "=": 0}[tokens[0].kind]
    return (
        time_token(TimeConstraints(within=spans[here + step]))
        if here is not None and 0 <= here + step < len(spans)
        else None
    )
