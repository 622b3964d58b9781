"""Rules over tokens: each turns a few neighbours into one, until a single time is left.

Kinds are letters (see `tokens`): `n` number, `o` ordinal, `m` month, `w` weekday, `u` unit, `y` year, `c` clock, `d`
tomorrow and the like, `T` a time, `L` a length of time. A pattern is a regular expression over them.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

import msgspec

from tidemill.reading.moments.calendar import day, nth_weekday
from tidemill.reading.moments.grammar.tokens import Token
from tidemill.reading.moments.grammar.week_rules import (
    by_end_of_day,
    day_ahead,
    day_of_month,
    hour_and_minutes,
    minutes_to_noon,
    month_after_next,
    named_year,
    quarter_beside,
    since_year,
    twelve,
    unit_before_last,
    weekday_of_week,
    weekend_of,
    weekend_of_feast,
    weeks_on,
    year_of_season,
)
from tidemill.reading.moments.grammar.when import (
    DayTime,
    Stretch,
    TimeConstraints,
    floor,
    is_date,
    merged,
    moved,
    resolved,
    unit_stretch,
)

Rule = Callable[[Sequence[Token], datetime], Token | None]
_DAYS_OF_MONTH = 31
_NOON = 12


def _time(when: TimeConstraints | None) -> Token | None:
    return Token("T", when) if when is not None else None


def _of(kind: str, tokens: Sequence[Token]) -> Token:
    return next(token for token in tokens if token.kind == kind)


def _dom(number: Decimal | int) -> int | None:
    return int(number) if number == int(number) and 1 <= number <= _DAYS_OF_MONTH else None


def _number(token: Token) -> Decimal:
    return token.value[0] if token.kind in "nv" else Decimal(token.value)


def _day_and_month(tokens: Sequence[Token], _: datetime) -> Token | None:
    number = next(token for token in tokens if token.kind in "no")
    dom = _dom(_number(number))
    return _time(TimeConstraints(month=_of("m", tokens).value, dom=dom)) if dom else None


def _weekday_and_day(tokens: Sequence[Token], _: datetime) -> Token | None:
    number = next(token for token in tokens if token.kind in "no")
    dom = _dom(_number(number))
    return _time(TimeConstraints(weekday=_of("w", tokens).value, dom=dom)) if dom else None


def _shared_month(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`13 t/m 15 juli`, `July 13-15`: two days of one month, with the year if it is told."""
    numbers = [_dom(_number(token)) for token in tokens if token.kind in "no"]
    if len(numbers) != 2 or None in numbers or numbers[0] >= numbers[1]:  # type: ignore[operator]  # noqa: PLR2004
        return None
    month = _of("m", tokens).value
    year = next((token.value for token in tokens if token.kind == "y"), None)
    first = resolved(TimeConstraints(month=month, dom=numbers[0], year=year), now)
    last = day(first.start.year, month, numbers[1] or 0) if first else None
    if first is None or last is None:
        return None
    end = datetime.combine(last, first.start.time()) + timedelta(days=1)
    return _time(TimeConstraints(within=Stretch(first.start, end, "D")))


def _pair_of_days(tokens: Sequence[Token], _: datetime) -> Token | None:
    value = tokens[0].value
    return _time(TimeConstraints(month=value[2], dom=value[3])) if len(value) > 2 else None  # noqa: PLR2004


def _pair_and_month(tokens: Sequence[Token], now: datetime) -> Token | None:
    one, other = _of("x", tokens).value[:2]
    spread = [Token("n", (Decimal(one), False)), Token("n", (Decimal(other), False))]
    return _shared_month([*spread, *(token for token in tokens if token.kind in "my")], now)


def _pair_of_hours(tokens: Sequence[Token], now: datetime) -> Token | None:
    one, other = _of("x", tokens).value[:2]
    return _hours([Token("n", (Decimal(one), False)), Token("-"), Token("n", (Decimal(other), False))], now)


def _year(tokens: Sequence[Token], _: datetime) -> Token | None:
    return _time(TimeConstraints(year=tokens[-1].value))


def _in_year(tokens: Sequence[Token], _: datetime) -> Token | None:
    return _time(TimeConstraints(year=_of("y", tokens).value))


def _with_year(tokens: Sequence[Token], _: datetime) -> Token | None:
    return _time(merged(tokens[0].value, TimeConstraints(year=tokens[-1].value)))


def _month(tokens: Sequence[Token], _: datetime) -> Token | None:
    return _time(TimeConstraints(month=tokens[-1].value))


def _weekday(tokens: Sequence[Token], _: datetime) -> Token | None:
    return _time(TimeConstraints(weekday=tokens[-1].value))


def _ordinal_day(tokens: Sequence[Token], _: datetime) -> Token | None:
    dom = _dom(tokens[-1].value)
    return _time(TimeConstraints(dom=dom)) if dom else None


def _relative(tokens: Sequence[Token], now: datetime) -> Token | None:
    return _time(TimeConstraints(within=unit_stretch(now, "d", tokens[-1].value)))


def _tonight(tokens: Sequence[Token], now: datetime) -> Token | None:
    days, hours = tokens[-1].value
    late = tokens[0].kind == "3"
    return _time(TimeConstraints(within=unit_stretch(now, "d", days), hours=(21, 24) if late else hours))


def _now(_: Sequence[Token], now: datetime) -> Token | None:
    return _time(TimeConstraints(within=unit_stretch(now, "d", 0), clock=DayTime(now.hour, now.minute)))


_TURNS = {">": 2, "<": -1, "=": 1}


def _turned(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`next Friday`, `last Christmas`, `this winter`."""
    turn = next(token for token in tokens if token.kind in _TURNS)
    when = _of("T", tokens).value
    if when.weekday is None and when.feast is None and when.season is None:
        return None
    return _time(msgspec.structs.replace(when, turn=_TURNS[turn.kind]))


def _this_part(tokens: Sequence[Token], now: datetime) -> Token | None:
    when = tokens[-1].value
    if when.hours is None or is_date(when) or when.clock is not None:
        return None
    return _time(msgspec.structs.replace(when, within=unit_stretch(now, "d", 0)))


def _next_month(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`next March`, `last October`: the month of that name after this one, or before it."""
    month, turn = tokens[-1].value, tokens[0].kind
    year = now.year
    if turn == ">" and month <= now.month:
        year += 1
    if turn == "<" and month >= now.month:
        year -= 1
    return _time(TimeConstraints(year=year, month=month))


def _turned_unit(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`next week`, `this quarter`, `last year`."""
    turn, what = tokens if tokens[0].kind != "u" else reversed(tokens)
    steps = {">": 1, "}": 1, "<": -1, "%": -1, "=": 0}[turn.kind]
    unit = what.value
    if unit == "e":  # which weekend is meant depends on the word, which the search for moments knows
        return None
    return _time(TimeConstraints(within=unit_stretch(now, unit, steps)))


def _turned_units(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`next 3 weeks`, `last two months`: so many whole ones."""
    count, unit = int(_number(tokens[1])), tokens[-1].value
    found = unit_stretch(now, unit, -count if tokens[0].kind in "<%" else 1, count)
    return _time(TimeConstraints(within=Stretch(found.start, found.end, "D" if unit in "dwMqy" else "H")))


def _upcoming(tokens: Sequence[Token], now: datetime) -> Token | None:
    count, unit = int(_number(_of("n", tokens))), _of("u", tokens).value
    return _time(TimeConstraints(within=unit_stretch(now, unit, count)))


def _length(tokens: Sequence[Token], _: datetime) -> Token | None:
    number, unit = _number(tokens[0]), tokens[-1].value
    return Token("L", ((unit, number),))


def _lengths(tokens: Sequence[Token], _: datetime) -> Token | None:
    return Token("L", tokens[0].value + tokens[-1].value)


def _half(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`half an hour`, `two and a half hours`."""
    unit = tokens[-1].value
    whole = _number(tokens[0]) if tokens[0].kind == "n" and len(tokens) > 2 else Decimal(0)  # noqa: PLR2004 - more than `half an hour`
    if whole == 1 and tokens[1].kind == "H" and tokens[0].value[1]:  # `een half uur`, `one half hour`
        whole = Decimal(0)
    return Token("L", ((unit, whole + Decimal("0.5")),))


def _quarter_of_hour(tokens: Sequence[Token], _: datetime) -> Token | None:
    count = _number(tokens[0]) if tokens[0].kind == "n" else Decimal(1)
    return Token("L", (("m", 15 * count),))


def _span_of(tokens: Sequence[Token], _: datetime) -> Token | None:
    return Token("L", (("s", Decimal(int(tokens[-1].value.total_seconds()))),))


def _away(tokens: Sequence[Token], now: datetime, sign: int) -> Token | None:
    """So long from now: a minute when it is told in hours or less, else a day; also the unit around it."""
    moment, lengths = now, _of("L", tokens).value
    try:
        for unit, count in lengths:
            moment = moved(moment, unit, float(count) * sign)
    except (OverflowError, ValueError):
        return None
    unit = lengths[-1][0]
    if any(unit in "smh" for unit, _ in lengths):
        return _time(TimeConstraints(within=unit_stretch(moment, "d", 0), clock=DayTime(moment.hour, moment.minute)))
    return Token("W", (unit_stretch(moment, "d", 0), unit_stretch(moment, unit, 0)))


def _ago(tokens: Sequence[Token], now: datetime) -> Token | None:
    return _away(tokens, now, -1)


def _ahead(tokens: Sequence[Token], now: datetime) -> Token | None:
    return _away(tokens, now, 1)


def _away_day(tokens: Sequence[Token], _: datetime) -> Token | None:
    return _time(TimeConstraints(within=tokens[0].value[0]))


def _feast_then(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`thanksgiving in 9 months`: the one of that month or year."""
    when = _of("T", tokens).value
    return (
        _time(merged(when, TimeConstraints(within=_of("W", tokens).value[1])))
        if when.feast or when.weekday is not None
        else None
    )


def _beside(tokens: Sequence[Token], _: datetime, sign: int) -> Token | None:
    """`three days after Easter`, `a week before 14 May`."""
    lengths, when = tokens[0].value, tokens[-1].value
    if len(lengths) != 1 or when.shift is not None or not is_date(when) or lengths[0][1] != int(lengths[0][1]):
        return None
    return _time(msgspec.structs.replace(when, shift=(lengths[0][0], sign * int(lengths[0][1]))))


def _after(tokens: Sequence[Token], now: datetime) -> Token | None:
    return _beside(tokens, now, 1)


def _before(tokens: Sequence[Token], now: datetime) -> Token | None:
    return _beside(tokens, now, -1)


def _minutes_beside(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`10 past 8`, `kwart voor 8`, `15 minutes to 3 pm`, `tien over half 8`."""
    minutes = {"Q": Decimal(15)}.get(tokens[0].kind) or (
        tokens[0].value[0][1] if tokens[0].kind == "L" and tokens[0].value[0][0] == "m" else
        _number(tokens[0]) if tokens[0].kind == "n" else None
    )  # fmt: skip
    clock = _as_clock(tokens[-1])
    if minutes is None or clock is None:
        return None
    sign = 1 if any(token.kind in "P%A" for token in tokens) or (tokens[1].kind == "i") else -1
    total = (clock.hour * 60 + clock.minute + sign * int(minutes)) % (24 * 60)
    return Token("c", DayTime(total // 60, total % 60, clock.open, clock.said))


def _as_clock(token: Token, *, whole: bool = True) -> DayTime | None:
    """A token as a time of the day: a clock, or a number of hours; unless `whole`, hours and minutes such as 1030."""
    if token.kind == "c":
        clock: DayTime = token.value
        return clock
    if token.kind == "y":
        return None if whole else DayTime.of(token.value // 100, token.value % 100)
    number = _number(token)
    if number != int(number) or (whole and number > 24):  # noqa: PLR2004 - hours of a day
        return None
    said = token.value[1]
    hours, minutes = (int(number), 0) if number <= 24 else divmod(int(number), 100)  # noqa: PLR2004 - hours of a day
    clock_read = DayTime.of(hours, minutes)
    return msgspec.structs.replace(clock_read, open=1 <= hours < _NOON, said=said) if clock_read else None


def _minutes_to(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`ten to five pm` is ten minutes before it; `six to eight pm` is two hours."""
    number, said = tokens[0].value
    if not said or number not in _SPOKEN_MINUTES or (tokens[2].kind == "n" and not tokens[2].value[1]):
        return None
    return _minutes_beside([tokens[0], Token("B"), tokens[2]], now)


def _minutes_after(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`twenty after three`."""
    number, said = tokens[0].value
    return _minutes_beside([tokens[0], Token("%"), tokens[2]], now) if said and number in _SPOKEN_MINUTES else None


_SPOKEN_MINUTES = frozenset({5, 10, 20, 25})


def _until_then(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`from now until Friday`: from today to the end of that day."""
    last = resolved(tokens[-1].value, now)
    if last is None or last.start < now or last.grain not in "dp":
        return None
    return _time(TimeConstraints(within=Stretch(floor(now, "d"), last.end, "D")))


def _half_to(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`half acht` is 7:30, `half past seven` too."""
    clock = _as_clock(tokens[-1])
    if clock is None:
        return None
    total = (clock.hour * 60 + clock.minute + (30 if len(tokens) > 2 else -30)) % (24 * 60)  # noqa: PLR2004
    return Token("c", DayTime(total // 60, total % 60, open=True, said=True))


def _clock(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`at 8`, `8 uur`, `8 o'clock`."""
    token = next(token for token in tokens if token.kind in "ncy")
    clock = _as_clock(token, whole=tokens[0].kind != "@")
    return Token("c", clock) if clock else None


def _hour_unit(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`at 16h`: the hour, not a length of time."""
    return _clock(tokens, now) if tokens[-1].value == "h" else None


def _hour_pm(tokens: Sequence[Token], _: datetime) -> Token | None:
    clock = _as_clock(tokens[0])
    half = "p" if any(token.kind == "p" for token in tokens) else "a"
    found = DayTime.of(clock.hour % 12 or 12, clock.minute, half) if clock else None
    return Token("c", found) if found else None


def _spoken(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`ten thirty`: hour and minutes in words."""
    (hour, said), (minute, also) = tokens[0].value, tokens[-1].value
    if not (said and also) or not 1 <= hour <= 12 or minute % 5 or not 10 <= minute < 60:  # noqa: PLR2004
        return None
    return Token("c", DayTime(int(hour), int(minute), open=True))


def _spoken_quarters(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`ten thirty` without its half of the day: any other minutes may be a number of something."""
    return _spoken(tokens, now) if tokens[-1].value[0] in {15, 30, 45} else None


def _hour_with_part(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`9 tomorrow morning`, `3 in the morning`, `tomorrow at 8`."""
    clock = _as_clock(next(token for token in tokens if token.kind in "nc"))
    when = _of("T", tokens).value
    if clock is None or when.clock is not None or not (when.hours or when.within or when.weekday is not None):
        return None
    return _time(msgspec.structs.replace(when, clock=clock))


def _clock_time(tokens: Sequence[Token], _: datetime) -> Token | None:
    return _time(TimeConstraints(clock=_of("c", tokens).value))


def _hours(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`9-11am`, `van 9 tot 11`, `from 3:30 to six pm`: two times of one day."""
    sides = [clock for token in tokens if token.kind in "nc" and (clock := _as_clock(token)) is not None]
    if len(sides) != 2:  # noqa: PLR2004
        return None
    first, last = sides
    if last.open and (last.hour, last.minute) <= (first.hour, first.minute) < (_NOON + last.hour, last.minute):
        last = DayTime(last.hour + _NOON, last.minute)  # from eleven to two, from noon until two
    if first.hour < _NOON <= last.hour and tokens[-1].kind == "c" and not last.open and _is_bare(tokens, first):
        later = DayTime(first.hour + _NOON, first.minute)
        first = later if (later.hour, later.minute) < (last.hour, last.minute) else first
    return _time(TimeConstraints(clock=first, until=last))


def _is_bare(tokens: Sequence[Token], first: DayTime) -> bool:
    """Whether the first of two times leaves its half of the day to the second."""
    return first.hour > 0 and (tokens[0].kind == "n" or tokens[1].kind == "n" or first.hour <= _NOON)


def _merge(tokens: Sequence[Token], _: datetime) -> Token | None:
    return _time(merged(tokens[0].value, tokens[-1].value))


def _zoned(tokens: Sequence[Token], _: datetime) -> Token | None:
    when = tokens[0].value
    return _time(msgspec.structs.replace(when, offset=float(tokens[-1].value))) if when.clock else None


def _nth_unit(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`third quarter`, `first tuesday of march`, `last day of october 2015`, `second last week of 2018`."""
    backwards = any(token.kind == "<" for token in tokens)
    ordinals = [token.value for token in tokens if token.kind == "o"]
    nth = (ordinals[0] if ordinals else 1) * (-1 if backwards else 1)
    what = next(token for token in tokens if token.kind in "wu")
    inside = next((token.value for token in tokens if token.kind == "T"), None)
    if inside is None:
        if what.kind == "u" and what.value == "q" and not backwards:
            year = next((token.value for token in tokens if token.kind == "y"), None)
            return _time(TimeConstraints(quarter=nth, year=year)) if nth <= 4 else None  # noqa: PLR2004
        return None
    span = resolved(inside, now)
    if span is None or span.grain not in "Mqyw" or inside.clock is not None:
        return None
    found = _nth_in(nth, what, span)
    if found is not None and found.end <= now and inside.within is None and inside.year is None:
        found = _nth_in(nth, what, unit_stretch(span.start, "M", 12))  # of a month without a year: the coming one
    return _time(TimeConstraints(within=found)) if found else None


def _nth_in(nth: int, what: Token, span: Stretch) -> Stretch | None:
    if what.kind == "w":
        return _nth_weekday(nth, what.value, span)
    return weekend_of(nth, span) if what.value == "e" else _nth_of(nth, what.value, span)


def _nth_weekday(nth: int, weekday: int, span: Stretch) -> Stretch | None:
    found = nth_weekday(nth, weekday, span.start.year, span.start.month) if span.grain == "M" else None
    if found is None:
        return None
    begins = datetime.combine(found, span.start.time())
    return Stretch(begins, begins + timedelta(days=1))


def _nth_of(nth: int, unit: str, span: Stretch) -> Stretch | None:
    if unit not in "dwMq":
        return None
    if nth > 0:
        begins = floor(span.start, unit)
        begins = moved(begins, unit, 1) if begins < span.start else begins
        begins = moved(begins, unit, nth - 1)
    else:
        begins = floor(span.end - timedelta(days=1), unit)
        begins = moved(begins, unit, -1) if moved(begins, unit, 1) > span.end else begins
        begins = moved(begins, unit, nth + 1)
    found = Stretch(begins, moved(begins, unit, 1), unit)
    return found if span.start <= begins < span.end else None


def _unit_beside(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the day before Christmas`, `de week na Pasen`: one unit before or after."""
    sign = 1 if tokens[1].kind == "A" else -1
    return _beside([Token("L", ((tokens[0].value, Decimal(1)),)), tokens[1], tokens[-1]], now, sign)


def _weekday_ahead(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`vrijdag over een week`: so many weeks behind the coming one."""
    when, lengths = tokens[0].value, tokens[-1].value
    if when.weekday is None or when.shift is not None or len(lengths) != 1 or lengths[0][0] != "w":
        return None
    return _time(msgspec.structs.replace(when, shift=("w", int(lengths[0][1]))))


def _middle_of_month(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`half maart`: its middle."""
    return _part_of([Token("2"), Token("T", TimeConstraints(month=tokens[-1].value))], now)


def _unit_after_next(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the week after next`, `Friday after next`: the one behind the next."""
    what = tokens[0]
    if what.kind == "u":
        return _time(TimeConstraints(within=unit_stretch(now, what.value, 2))) if what.value in "dwMqy" else None
    begins = floor(now, "d")
    begins += timedelta(days=((what.value - begins.weekday()) % 7 or 7) + 7)
    return _time(TimeConstraints(within=Stretch(begins, begins + timedelta(days=1))))


def _week_later(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`Friday week`, `tomorrow week`: seven days behind it."""
    when = tokens[0].value
    if tokens[-1].value != "w" or when.shift is not None or (when.weekday is None and when.within is None):
        return None
    return _time(msgspec.structs.replace(when, shift=("w", 1)))


def _week_number(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`week 12`, `week 12 of 2026`: by the calendar of ISO 8601."""
    number = _number(_of("n", tokens))
    year = next((token.value for token in tokens if token.kind == "y"), now.year)
    if _of("u", tokens).value != "w" or number != int(number) or not 1 <= number <= 53:  # noqa: PLR2004 - weeks of a year
        return None
    begins = datetime.fromisocalendar(year, int(number), 1)
    return _time(TimeConstraints(within=Stretch(begins, begins + timedelta(days=7), "w")))


def _weekdays(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`Saturday and Sunday`: two days in a row."""
    first, last = tokens[0].value, tokens[-1].value
    if (last - first) % 7 != 1:
        return None
    return _range([Token("T", TimeConstraints(weekday=first)), Token("T", TimeConstraints(weekday=last))], now)


def _of_the_month(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the first of the month`: that day of this month or of the coming one."""
    dom = _dom(tokens[0].value)
    if tokens[-1].value != "M" or dom is None:
        return None
    found = resolved(TimeConstraints(dom=dom), now)
    return _time(TimeConstraints(within=found)) if found else None


def _last_of_this(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the last day of the month`, `laatste week van het jaar`."""
    inside = Token("T", TimeConstraints(within=unit_stretch(now, tokens[-1].value, 0)))
    return _nth_unit([*tokens[:-1], inside], now) if tokens[-1].value in "Mqyw" else None


def _beside_weekday(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the Monday after Easter`, `Friday before 3 March`."""
    base = resolved(tokens[-1].value, now)
    if base is None or base.grain != "d":
        return None
    weekday = tokens[0].value
    if tokens[1].kind == "A":
        begins = base.start + timedelta(days=(weekday - base.start.weekday()) % 7 or 7)
    else:
        begins = base.start - timedelta(days=(base.start.weekday() - weekday) % 7 or 7)
    return _time(TimeConstraints(within=Stretch(begins, begins + timedelta(days=1))))


def _unit_and_a_half(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`an hour and a half`."""
    return Token("L", ((tokens[1].value, _number(tokens[0]) + Decimal("0.5")),))


def _unit_ago(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`week ago`: one of them."""
    return _away([Token("L", ((tokens[0].value, Decimal(1)),))], now, -1 if tokens[-1].kind == "g" else 1)


def _pairs_of_days(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`14-10 t/m 15-10`: each is a day and a month."""
    sides = [_pair_of_days([token], now) for token in tokens if token.kind == "x"]
    first, last = sides[0], sides[-1]
    return _range([first, last], now) if first is not None and last is not None else None


def _nth_after(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`third tuesday after christmas 2014`."""
    base = resolved(tokens[-1].value, now)
    if base is None or base.grain != "d":
        return None
    weekday, nth = _of("w", tokens).value, _of("o", tokens).value
    ahead = (weekday - base.start.weekday()) % 7 or 7
    begins = base.start + timedelta(days=ahead + 7 * (nth - 1))
    return _time(TimeConstraints(within=Stretch(begins, begins + timedelta(days=1))))


def _weekdays_ago(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`2 thursdays ago`, `in three fridays`."""
    count, weekday = int(_number(_of("n", tokens))), _of("w", tokens).value
    today = floor(now, "d")
    if any(token.kind == "g" for token in tokens):
        begins = today - timedelta(days=((today.weekday() - weekday) % 7 or 7) + 7 * (count - 1))
    else:
        begins = today + timedelta(days=((weekday - today.weekday()) % 7 or 7) + 7 * (count - 1))
    return _time(TimeConstraints(within=Stretch(begins, begins + timedelta(days=1))))


def _part_of(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`end of the month`, `begin maart`, `mid July`, `early next week`."""
    which = next(token.kind for token in tokens if token.kind in "123E")
    if which == "E":
        which, unit = _of("E", tokens).value
        span: Stretch | None = unit_stretch(now, unit, 0)
    elif tokens[-1].kind == "u":
        span = unit_stretch(now, tokens[-1].value, 0)
    else:
        span = resolved(tokens[-1].value, now)
    if span is None or span.grain not in _THIRDS:
        return None
    edges = [*(moved(span.start, *step) for step in _THIRDS[span.grain]), span.end]
    index = {"1": (0, 1), "2": (1, 2), "3": (2, 3)}[which]
    return _time(TimeConstraints(within=Stretch(edges[index[0]], edges[index[1]], "D")))


_THIRDS = {
    "w": (("d", 0), ("d", 3), ("d", 4)), "M": (("d", 0), ("d", 10), ("d", 20)), "y": (("M", 0), ("M", 3), ("M", 8)),
}  # fmt: skip


def _edge_of_part(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`early in the morning`, `late in the evening`."""
    when = tokens[-1].value
    if when.hours not in _EDGES_OF_PARTS or is_date(when) or when.clock is not None:
        return None
    return _time(TimeConstraints(hours=_EDGES_OF_PARTS[when.hours][tokens[0].kind == "3"]))


_EDGES_OF_PARTS = {(0, 12): ((0, 9), (9, 12)), (12, 18): ((12, 15), (15, 18)), (18, 24): ((18, 21), (21, 24))}


def _by(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`by the end of the month`: from now until then."""
    span = resolved(tokens[-1].value, now)
    if span is None or span.start < now:
        return None
    end = span.end if span.grain == "D" else span.start
    return _time(TimeConstraints(within=Stretch(now.replace(second=0, microsecond=0), end, "D")))


def _rest(tokens: Sequence[Token], now: datetime) -> Token | None:
    unit = tokens[-1].value
    span = unit_stretch(now, unit, 0)
    return _time(TimeConstraints(within=Stretch(floor(now, "d"), span.end, "D"))) if unit in "wMy" else None


def _season(tokens: Sequence[Token], now: datetime) -> Token | None:
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
        _time(TimeConstraints(within=spans[here + step]))
        if here is not None and 0 <= here + step < len(spans)
        else None
    )


def _closest(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the second closest Monday to Oct 5th`."""
    what, base = tokens[-3].value, resolved(tokens[-1].value, now)
    nth = tokens[0].value if tokens[0].kind == "o" else 1
    if base is None or base.grain != "d" or what.weekday is None:
        return None
    ahead = (what.weekday - base.start.weekday()) % 7
    days = sorted((ahead + 7 * week for week in range(-3, 4)), key=lambda days: (abs(days), -days))
    begins = base.start + timedelta(days=days[min(nth, 5) - 1])
    return _time(TimeConstraints(within=Stretch(begins, begins + timedelta(days=1))))


def _lasting(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`18th Dec for 10 days`."""
    when = next(token for token in tokens if token.kind in "Tc")
    base = resolved(TimeConstraints(clock=when.value) if when.kind == "c" else when.value, now)
    lengths = _of("L", tokens).value
    if base is None or base.grain not in "dm" or len(lengths) != 1:
        return None
    if lengths[0][0] in "smh" and base.grain == "d":
        return None
    end = moved(base.start, lengths[0][0], float(lengths[0][1]))
    return _time(TimeConstraints(within=Stretch(base.start, end, "D" if base.grain == "d" else "H")))


def _range(tokens: Sequence[Token], now: datetime) -> Token | None:
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
        return _time(msgspec.structs.replace(one, until=other.clock))
    last = resolved(other, first.start)
    if last is None or last.start < first.start or "y" in first.grain + last.grain:
        return None
    ends = last.start if last.grain == "m" else last.end
    grain = "H" if last.grain == "m" else "X" if first.grain == "m" else "D"
    return _time(TimeConstraints(within=Stretch(first.start, ends, grain)))


def _completed(one: TimeConstraints, other: TimeConstraints) -> tuple[TimeConstraints, TimeConstraints]:
    if one.dom is not None and one.month is None and other.month is not None:
        one = msgspec.structs.replace(one, month=other.month)
    if one.month is not None and other.dom is not None and other.month is None:
        other = msgspec.structs.replace(other, month=one.month, year=one.year)
    if one.month is not None and one.year is None and other.year is not None and other.month is not None:
        year = other.year - ((one.month, one.dom or 0) > (other.month, other.dom or 32))
        one = msgspec.structs.replace(one, year=year)
    return one, other


def _day_to_date(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`from 13 to the 15 of July`: the first side is a bare number."""
    number = next(token for token in tokens if token.kind == "n")
    dom = _dom(_number(number))
    return _range([Token("T", TimeConstraints(dom=dom)), tokens[-1]], now) if dom and tokens[-1].value.dom else None


def _date_to_day(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`July 13 to 15`: the last side is a bare number."""
    when, dom = _of("T", tokens).value, _dom(_number(tokens[-1]))
    if dom is None or when.dom is None or when.clock is not None:
        return None
    return _range([_of("T", tokens), Token("T", TimeConstraints(dom=dom))], now)


def _plain(tokens: Sequence[Token], _: datetime) -> Token | None:
    return tokens[-1]


RULES: Sequence[tuple[re.Pattern[str], Rule]] = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        ("u[%AB-]c", quarter_beside), ("^n-c$", minutes_to_noon), ("nc", twelve), ("^uB<$", unit_before_last),
        ("^mA>$", month_after_next), ("^wi?un$", weekday_of_week), ("^uy$", named_year),
        ("b3u|bE", by_end_of_day), ("(?<=\\^)[no]&[no]my?", _shared_month),
        ("n[uU]&n?H(?![nc])", _unit_and_a_half), ("x-x$", _pairs_of_days),
        ("^Hm$", _middle_of_month), ("n&?n?H[uU]", _half), ("Hn?[uU]", _half),
        ("(?<=[iP])nU|nU(?=[gfAB])|nU(?=&?n[uU])|(?<=L)nU", _length),
        ("nk|k|Qn?u", _quarter_of_hour), ("n?l", _span_of), ("@L", _plain),
        ("[no]-[no]my?", _shared_month), ("m[no]-[no]y?", _shared_month), ("xmy?|mxy?", _pair_and_month),
        ("(?<=[Tw])x|x(?=[apdt])", _pair_of_hours),
        ("n[w][gf]|inw", _weekdays_ago),
        ("[no]-?m(?![no])|[no]m|m[no](?!-?[acpuOn])", _day_and_month), ("w[no](?![acpuUO:mP]|-[nc])", _weekday_and_day),
        ("(?<![\\^n@Tc])n-[nc](?=[api=T]|$)", _minutes_to), ("nA[nc](?=[ap]|$)", _minutes_after),
        ("\\^?N-T$", _until_then),
        ("(?<=ou)\\^y$", _in_year),
        ("H[P%][nc]|H[nc]", _half_to), ("[nQ][P%B][nc]|[QL][P%BA-][nc](?!u)", _minutes_beside),

        ("nUn$", hour_and_minutes), ("n-?n(?=[ap])", _spoken), ("n-?n(?=[i@^T]|$)", _spoken_quarters),
        ("[nc]i?[ap]|nO[ap]", _hour_pm),
        ("[\\^A]?[nc]-[nc](?![mu])[UO]?|\\^[nc][&@][nc](?![mu])[UO]?|A[nc]&?B[nc](?![mu])[UO]?", _hours),
        ("x$", _pair_of_days), ("x(?=@|c|T)", _pair_of_days),
        ("[><%][nv][uU]", _turned_units), ("}nu|n}u", _upcoming),
        ("@nu", _hour_unit), ("@?nU|@?cU|@[ny](?![mu])|nO|cO|@c", _clock),
        ("^i?un(?:[i^]?y)?$", _week_number), ("^w&w$", _weekdays), ("^u[gf]$", _unit_ago),
        ("^[uw]A>$", _unit_after_next),
        ("[nv]u", _length), ("L&?L", _lengths), ("Lg|gL|^BL$", _ago), ("Lf", _ahead),
        ("^FL[A^]T|^[A^]?TFL|^FLAc|^A?cFL", _lasting), ("[iF]@?L(?<!wiL)(?<!wPL)(?<!diL)(?<!dPL)|^[PA]L$|^PL", _ahead),
        ("[><]m", _next_month), ("m", _month), ("Ty", _with_year), ("(?<=[u123])y", _year),
        ("o<[wu][i^]?T(?!y)|<w[i^]T(?!y)|<wT$|<u[i^]?T(?!y)|o[wu][i^]?T(?!y)|ou$", _nth_unit),
        ("^ou$", _of_the_month), ("^o?<uu$|^ouu$", _last_of_this), ("^u[AB]T$", _unit_beside),
        ("owAT(?!y)", _nth_after), ("^w[AB]T$", _beside_weekday),
        ("[>=<}%]u|^u[><]$", _turned_unit), ("iyD?", _in_year),
        ("d", _relative), ("3?t", _tonight), ("^N$", _now), ("iT", _plain),
        ("r=?u", _rest), ("[13]i?T", _edge_of_part), ("[123]@?(?:T|u)|E", _part_of), ("bT", _by), ("[>=<]S", _season),
        ("o?CT-T", _closest),
        ("w", _weekday), ("^LT$", weeks_on), ("T[iP]L$", _weekday_ahead), ("T[iP]L$", day_ahead),
        ("^PT$", _plain), ("[no]T", day_of_month), ("y(?=T)", _year),
        ("=T(?=.)|(?<=.)=T", _this_part), ("[>=<]T", _turned), ("T[>=<]", _turned), ("T\\^y$", year_of_season),
        ("L[A^]T", _after), ("LBT", _before), ("^Tu$", weekend_of_feast), ("^Tu$", _week_later),
        ("^\\^y$", since_year),
        ("TW|WT", _feast_then), ("W", _away_day),
        ("o(?![uw])", _ordinal_day),
        ("(?<=T)-c$|c", _clock_time),
        ("[\\^A]?n-T", _day_to_date), ("[\\^A]?T-n", _date_to_day),
        ("T[@^A]?i?T", _merge), ("nT|T@?n$", _hour_with_part),
        ("Tz", _zoned), ("[\\^A]?T-T|\\^T&T", _range),
        ("[@F-]T$", _plain), ("^[\\^A]T$", _plain),
    )
)  # fmt: skip
"""Which neighbours become one, the surest first."""
_MOST_STEPS = 60


def reduced(tokens: list[Token], now: datetime) -> TimeConstraints | None:
    """The one time that all tokens together mean; None when they do not come down to one."""
    for _ in range(_MOST_STEPS):
        if len(tokens) == 1 and tokens[0].kind == "T":
            when: TimeConstraints = tokens[0].value
            return when
        step = _step(tokens, now)
        if step is None:
            return None
        tokens = step
    return None


def _step(tokens: list[Token], now: datetime) -> list[Token] | None:
    kinds = "".join(token.kind for token in tokens)
    for pattern, rule in RULES:
        for match in pattern.finditer(kinds):
            made = rule(tokens[match.start() : match.end()], now)
            if made is not None:
                return [*tokens[: match.start()], made, *tokens[match.end() :]]
    return None
