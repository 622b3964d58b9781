"""Rules about ranges: `13 t/m 15 juli`, `from now until Friday`, `18 December for 10 days`."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

import msgspec

from tidemill.reading.moments.calendar import day
from tidemill.reading.moments.grammar.day_rules import pair_of_days
from tidemill.reading.moments.grammar.token_values import dom_of, number_of, of_kind, time_token
from tidemill.reading.moments.grammar.tokens import Token
from tidemill.reading.moments.grammar.when import Stretch, TimeConstraints, floor, is_date, moved, resolved


def shared_month(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`13 t/m 15 juli`, `July 13-15`: two days of one month, with the year if it is told."""
    numbers = [dom_of(number_of(token)) for token in tokens if token.kind in "no"]
    if len(numbers) != 2 or None in numbers or numbers[0] >= numbers[1]:  # type: ignore[operator]  # noqa: PLR2004
        return None
    month = of_kind("m", tokens).value
    year = next((token.value for token in tokens if token.kind == "y"), None)
    first = resolved(TimeConstraints(month=month, dom=numbers[0], year=year), now)
    last = day(first.start.year, month, numbers[1] or 0) if first else None
    if first is None or last is None:
        return None
    end = datetime.combine(last, first.start.time()) + timedelta(days=1)
    return time_token(TimeConstraints(within=Stretch(first.start, end, "D")))


def pair_and_month(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`13-15 juli`, where the pair was read as one token."""
    one, other = of_kind("x", tokens).value[:2]
    spread = [Token("n", (Decimal(one), False)), Token("n", (Decimal(other), False))]
    return shared_month([*spread, *(token for token in tokens if token.kind in "my")], now)


def pairs_of_days(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`14-10 t/m 15-10`: each is a day and a month."""
    sides = [pair_of_days([token], now) for token in tokens if token.kind == "x"]
    first, last = sides[0], sides[-1]
    return range_of_times([first, last], now) if first is not None and last is not None else None


def weekdays(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`Saturday and Sunday`: two days in a row."""
    first, last = tokens[0].value, tokens[-1].value
    if (last - first) % 7 != 1:
        return None
    return range_of_times([Token("T", TimeConstraints(weekday=first)), Token("T", TimeConstraints(weekday=last))], now)


def until_then(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`from now until Friday`: from today to the end of that day."""
    last = resolved(tokens[-1].value, now)
    if last is None or last.start < now or last.grain not in "dp":
        return None
    return time_token(TimeConstraints(within=Stretch(floor(now, "d"), last.end, "D")))


def lasting(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`18th Dec for 10 days`."""
    when = next(token for token in tokens if token.kind in "Tc")
    base = resolved(TimeConstraints(clock=when.value) if when.kind == "c" else when.value, now)
    lengths = of_kind("L", tokens).value
    if base is None or base.grain not in "dm" or len(lengths) != 1:
        return None
    if lengths[0][0] in "smh" and base.grain == "d":
        return None
    end = moved(base.start, lengths[0][0], float(lengths[0][1]))
    return time_token(TimeConstraints(within=Stretch(base.start, end, "D" if base.grain == "d" else "H")))


def range_of_times(tokens: Sequence[Token], now: datetime) -> Token | None:
    """From one time until another; what one of them leaves out, the other tells."""
    sides = [token.value for token in tokens if token.kind == "T"]
    one, other = sides[0], sides[-1]
    one, other = _completed(one, other)
    if is_date(one) and one.clock is None and other.clock is not None and is_date(other):  # one time for all days
        one = msgspec.structs.replace(one, clock=other.clock, until=other.until)
        other = msgspec.structs.replace(other, clock=other.until, until=None)
    first = resolved(one, now)
    if first is None:
        return None
    if is_date(one) and one.clock is not None and not is_date(other) and other.clock is not None:
        return time_token(msgspec.structs.replace(one, until=other.clock))
    last = resolved(other, first.start)
    if last is None or last.start < first.start or "y" in first.grain + last.grain:
        return None
    ends = last.start if last.grain == "m" else last.end
    grain = "H" if last.grain == "m" else "X" if first.grain == "m" else "D"
    return time_token(TimeConstraints(within=Stretch(first.start, ends, grain)))


def _completed(one: TimeConstraints, other: TimeConstraints) -> tuple[TimeConstraints, TimeConstraints]:
    if one.dom is not None and one.month is None and other.month is not None:
        one = msgspec.structs.replace(one, month=other.month)
    if one.month is not None and other.dom is not None and other.month is None:
        other = msgspec.structs.replace(other, month=one.month, year=one.year)
    if one.month is not None and one.year is None and other.year is not None and other.month is not None:
        year = other.year - ((one.month, one.dom or 0) > (other.month, other.dom or 32))
        one = msgspec.structs.replace(one, year=year)
    return one, other


def day_to_date(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`from 13 to the 15 of July`: the first side is a bare number."""
    number = next(token for token in tokens if token.kind == "n")
    dom = dom_of(number_of(number))
    return (
        range_of_times([Token("T", TimeConstraints(dom=dom)), tokens[-1]], now)
        if dom and tokens[-1].value.dom
        else None
    )


def date_to_day(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`July 13 to 15`: the last side is a bare number."""
    when, dom = of_kind("T", tokens).value, dom_of(number_of(tokens[-1]))
    if dom is None or when.dom is None or when.clock is not None:
        return None
    return range_of_times([of_kind("T", tokens), Token("T", TimeConstraints(dom=dom))], now)
