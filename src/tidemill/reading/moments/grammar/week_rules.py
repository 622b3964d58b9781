"""Rules about weeks, weekends and years that are counted from others: `the week before last`, `Monday of week 20`."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

import msgspec

from tidemill.reading.moments.grammar.tokens import Token
from tidemill.reading.moments.grammar.when import (
    DayTime,
    Stretch,
    TimeConstraints,
    floor,
    moved,
    resolved,
    unit_stretch,
)

_SATURDAY, _WEEKS = 5, 53
_MINUTES_BEFORE = frozenset({15, 20, 25})


def _time(when: TimeConstraints) -> Token:
    return Token("T", when)


def _within(stretch: Stretch) -> Token:
    return _time(TimeConstraints(within=stretch))


def _a_day(begins: datetime) -> Token:
    return _within(Stretch(begins, begins + timedelta(days=1)))


def unit_before_last(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the week before last`, `the year before last`."""
    unit = tokens[0].value
    return _within(unit_stretch(now, unit, -2)) if unit in "dwMqy" else None


def month_after_next(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`March after next`: that of the year behind the coming one's."""
    month = tokens[0].value
    return _time(TimeConstraints(month=month, year=now.year + 1 + (month <= now.month)))


def weeks_on(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`a week on Thursday`, `two weeks on Friday`."""
    lengths, when = tokens[0].value, tokens[-1].value
    if len(lengths) != 1 or lengths[0][0] not in "wf" or when.weekday is None or when.month or when.shift:
        return None
    return _time(TimeConstraints(weekday=when.weekday, clock=when.clock, shift=(lengths[0][0], int(lengths[0][1]))))


def day_of_month(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`20 of next month`: the day of a month that is told by its place."""
    number, within = tokens[0].value, tokens[-1].value.within
    dom = int(number[0]) if tokens[0].kind == "n" else number
    if within is None or within.grain != "M" or not 1 <= dom <= (within.end - within.start).days:
        return None
    return _a_day(within.start + timedelta(days=dom - 1))


def weekend_of(nth: int, span: Stretch) -> Stretch | None:
    """The first, second ... or last (-1) weekend whose Saturday lies in a stretch, with its Sunday."""
    first = floor(span.start, "d") + timedelta(days=(_SATURDAY - span.start.weekday()) % 7)
    saturdays = []
    while first < span.end:
        saturdays.append(first)
        first += timedelta(days=7)
    index = nth - 1 if nth > 0 else nth
    if not -len(saturdays) <= index < len(saturdays):
        return None
    return Stretch(saturdays[index], saturdays[index] + timedelta(days=2), "D")


def weekday_of_week(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`Monday of week 20`, by the calendar of ISO 8601."""
    unit, number = (next(token.value for token in tokens if token.kind == kind) for kind in "un")
    if unit != "w" or number[0] != int(number[0]) or not 1 <= number[0] <= _WEEKS:
        return None
    return _a_day(datetime.fromisocalendar(now.year, int(number[0]), tokens[0].value + 1))


def named_year(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`the year 2014`."""
    return _time(TimeConstraints(year=tokens[-1].value)) if tokens[0].value == "y" else None


def by_end_of_day(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`by the end of the day`: from now until midnight."""
    unit = tokens[-1].value[1] if tokens[-1].kind == "E" else tokens[-1].value
    if unit != "d":
        return None
    return _within(Stretch(now.replace(second=0, microsecond=0), floor(now, "d") + timedelta(days=1), "H"))


def quarter_beside(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`quarter to noon`, `quarter past noon`."""
    clock = tokens[-1].value
    if tokens[0].value != "q":
        return None
    minutes = (clock.hour * 60 + clock.minute + (15 if tokens[1].kind in "%A" else -15)) % (24 * 60)
    return Token("c", DayTime(minutes // 60, minutes % 60, clock.open, clock.said))


def minutes_to_noon(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`15 to noon`; `10 to noon` is two hours."""
    number, clock = tokens[0].value[0], tokens[-1].value
    if number not in _MINUTES_BEFORE or clock.minute or clock.hour not in {0, 12} or clock.open:
        return None
    minutes = (clock.hour * 60 - int(number)) % (24 * 60)
    return Token("c", DayTime(minutes // 60, minutes % 60))


def twelve(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`12 noon`, `12 midnight`."""
    clock = tokens[-1].value
    return tokens[-1] if tokens[0].value[0] == Decimal(12) and clock.minute == 0 and clock.hour in {0, 12} else None


def day_ahead(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`vandaag over een week`, `tomorrow in two weeks`: so much behind that day."""
    within, lengths = tokens[0].value.within, tokens[-1].value
    if within is None or within.grain != "d" or len(lengths) != 1 or lengths[0][0] not in "dwf":
        return None
    return _a_day(moved(within.start, lengths[0][0], float(lengths[0][1])))


def hour_and_minutes(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`zes uur dertig`."""
    (hour, said), (minute, _also) = tokens[0].value, tokens[-1].value
    if tokens[1].value != "h" or hour != int(hour) or hour > _HOURS or minute not in _SPOKEN_MINUTES:
        return None
    return Token("c", DayTime(int(hour) % _HOURS, int(minute), open=1 <= hour < _HOURS / 2, said=said))


_SPOKEN_MINUTES, _HOURS = frozenset(range(5, 60, 5)), 24


def weekend_of_feast(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`Labor Day weekend`: the Saturday and Sunday beside the feast, and the feast where it touches them."""
    when = tokens[0].value
    span = resolved(when, now) if when.feast is not None and when.clock is None else None
    if span is None or tokens[-1].value != "e":
        return None
    begins, weekday = span.start, span.start.weekday()
    ahead = _SATURDAY - weekday
    saturday = begins + timedelta(days=ahead if weekday >= _WEDNESDAY else ahead - 7)
    opens = min(saturday, max(begins, saturday - timedelta(days=2)))
    return _within(Stretch(opens, max(saturday + timedelta(days=2), span.end), "D"))


_WEDNESDAY = 2


def year_of_season(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`de zomer van 2025`."""
    when = tokens[0].value
    named = when.season is not None and when.year is None
    return _time(msgspec.structs.replace(when, year=tokens[-1].value)) if named else None


def since_year(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`since 2019`."""
    return _time(TimeConstraints(year=tokens[-1].value))
