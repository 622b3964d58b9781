"""Rules about times of the day: `half acht`, `ten to five pm`, `9-11am`, `Thursday 8:00 EST`."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

import msgspec

from tidemill.reading.moments.grammar.token_values import NOON, as_clock, number_of, of_kind, time_token
from tidemill.reading.moments.grammar.tokens import Token
from tidemill.reading.moments.grammar.when import DayTime, TimeConstraints


def minutes_beside(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`10 past 8`, `kwart voor 8`, `15 minutes to 3 pm`, `tien over half 8`."""
    minutes = {"Q": Decimal(15)}.get(tokens[0].kind) or (
        tokens[0].value[0][1] if tokens[0].kind == "L" and tokens[0].value[0][0] == "m" else
        number_of(tokens[0]) if tokens[0].kind == "n" else None
    )  # fmt: skip
    clock = as_clock(tokens[-1])
    if minutes is None or clock is None:
        return None
    sign = 1 if any(token.kind in "P%A" for token in tokens) or (tokens[1].kind == "i") else -1
    total = (clock.hour * 60 + clock.minute + sign * int(minutes)) % (24 * 60)
    return Token("c", DayTime(total // 60, total % 60, clock.open, clock.said))


def minutes_to(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`ten to five pm` is ten minutes before it; `six to eight pm` is two hours."""
    number, said = tokens[0].value
    if not said or number not in _SPOKEN_MINUTES or (tokens[2].kind == "n" and not tokens[2].value[1]):
        return None
    return minutes_beside([tokens[0], Token("B"), tokens[2]], now)


def minutes_after(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`twenty after three`."""
    number, said = tokens[0].value
    return minutes_beside([tokens[0], Token("%"), tokens[2]], now) if said and number in _SPOKEN_MINUTES else None


_SPOKEN_MINUTES = frozenset({5, 10, 20, 25})


def half_to(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`half acht` is 7:30, `half past seven` too."""
    clock = as_clock(tokens[-1])
    if clock is None:
        return None
    total = (clock.hour * 60 + clock.minute + (30 if len(tokens) > 2 else -30)) % (24 * 60)  # noqa: PLR2004
    return Token("c", DayTime(total // 60, total % 60, open=True, said=True))


def clock_of_hour(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`at 8`, `8 uur`, `8 o'clock`."""
    token = next(token for token in tokens if token.kind in "ncy")
    clock = as_clock(token, whole=tokens[0].kind != "@")
    return Token("c", clock) if clock else None


def hour_unit(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`at 16h`: the hour, not a length of time."""
    return clock_of_hour(tokens, now) if tokens[-1].value == "h" else None


def hour_pm(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`8 pm`, `8 o'clock am`: an hour with its half of the day."""
    clock = as_clock(tokens[0])
    half = "p" if any(token.kind == "p" for token in tokens) else "a"
    found = DayTime.of(clock.hour % 12 or 12, clock.minute, half) if clock else None
    return Token("c", found) if found else None


def spoken(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`ten thirty`: hour and minutes in words."""
    (hour, said), (minute, also) = tokens[0].value, tokens[-1].value
    if not (said and also) or not 1 <= hour <= 12 or minute % 5 or not 10 <= minute < 60:  # noqa: PLR2004
        return None
    return Token("c", DayTime(int(hour), int(minute), open=True))


def spoken_quarters(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`ten thirty` without its half of the day: any other minutes may be a number of something."""
    return spoken(tokens, now) if tokens[-1].value[0] in {15, 30, 45} else None


def hour_with_part(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`9 tomorrow morning`, `3 in the morning`, `tomorrow at 8`."""
    clock = as_clock(next(token for token in tokens if token.kind in "nc"))
    when = of_kind("T", tokens).value
    if clock is None or when.clock is not None or not (when.hours or when.within or when.weekday is not None):
        return None
    return time_token(msgspec.structs.replace(when, clock=clock))


def clock_time(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`20:00`: a time of the day alone."""
    return time_token(TimeConstraints(clock=of_kind("c", tokens).value))


def hours_of_day(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`9-11am`, `van 9 tot 11`, `from 3:30 to six pm`: two times of one day."""
    sides = [clock for token in tokens if token.kind in "nc" and (clock := as_clock(token)) is not None]
    if len(sides) != 2:  # noqa: PLR2004
        return None
    first, last = sides
    if last.open and (last.hour, last.minute) <= (first.hour, first.minute) < (NOON + last.hour, last.minute):
        last = DayTime(last.hour + NOON, last.minute)  # from eleven to two, from noon until two
    if first.hour < NOON <= last.hour and tokens[-1].kind == "c" and not last.open and _is_bare(tokens, first):
        later = DayTime(first.hour + NOON, first.minute)
        first = later if (later.hour, later.minute) < (last.hour, last.minute) else first
    return time_token(TimeConstraints(clock=first, until=last))


def _is_bare(tokens: Sequence[Token], first: DayTime) -> bool:
    """Whether the first of two times leaves its half of the day to the second."""
    return first.hour > 0 and (tokens[0].kind == "n" or tokens[1].kind == "n" or first.hour <= NOON)


def pair_of_hours(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`Friday 9-11`: from one hour until another."""
    one, other = of_kind("x", tokens).value[:2]
    return hours_of_day([Token("n", (Decimal(one), False)), Token("-"), Token("n", (Decimal(other), False))], now)


def zoned(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`8:00 EST`: a time of the day with its zone."""
    when = tokens[0].value
    return time_token(msgspec.structs.replace(when, offset=float(tokens[-1].value))) if when.clock else None
