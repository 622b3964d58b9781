"""Rules about days and units that are counted: `third quarter`, `first Tuesday of March`, `two Thursdays ago`."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from tidemill.reading.moments.calendar import nth_weekday
from tidemill.reading.moments.grammar.token_values import dom_of, number_of, of_kind, time_token
from tidemill.reading.moments.grammar.tokens import Token
from tidemill.reading.moments.grammar.week_rules import weekend_of
from tidemill.reading.moments.grammar.when import Stretch, TimeConstraints, floor, moved, resolved, unit_stretch


def nth_unit(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`third quarter`, `first tuesday of march`, `last day of october 2015`, `second last week of 2018`."""
    backwards = any(token.kind == "<" for token in tokens)
    ordinals = [token.value for token in tokens if token.kind == "o"]
    nth = (ordinals[0] if ordinals else 1) * (-1 if backwards else 1)
    what = next(token for token in tokens if token.kind in "wu")
    inside = next((token.value for token in tokens if token.kind == "T"), None)
    if inside is None:
        if what.kind == "u" and what.value == "q" and not backwards:
            year = next((token.value for token in tokens if token.kind == "y"), None)
            return time_token(TimeConstraints(quarter=nth, year=year)) if nth <= 4 else None  # noqa: PLR2004
        return None
    span = resolved(inside, now)
    if span is None or span.grain not in "Mqyw" or inside.clock is not None:
        return None
    found = _nth_in(nth, what, span)
    if found is not None and found.end <= now and inside.within is None and inside.year is None:
        found = _nth_in(nth, what, unit_stretch(span.start, "M", 12))  # of a month without a year: the coming one
    return time_token(TimeConstraints(within=found)) if found else None


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


def of_the_month(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the first of the month`: that day of this month or of the coming one."""
    dom = dom_of(tokens[0].value)
    if tokens[-1].value != "M" or dom is None:
        return None
    found = resolved(TimeConstraints(dom=dom), now)
    return time_token(TimeConstraints(within=found)) if found else None


def last_of_this(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the last day of the month`, `laatste week van het jaar`."""
    inside = Token("T", TimeConstraints(within=unit_stretch(now, tokens[-1].value, 0)))
    return nth_unit([*tokens[:-1], inside], now) if tokens[-1].value in "Mqyw" else None


def week_number(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`week 12`, `week 12 of 2026`: by the calendar of ISO 8601."""
    number = number_of(of_kind("n", tokens))
    year = next((token.value for token in tokens if token.kind == "y"), now.year)
    if of_kind("u", tokens).value != "w" or number != int(number) or not 1 <= number <= 53:  # noqa: PLR2004 - weeks of a year
        return None
    begins = datetime.fromisocalendar(year, int(number), 1)
    return time_token(TimeConstraints(within=Stretch(begins, begins + timedelta(days=7), "w")))


def beside_weekday(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the Monday after Easter`, `Friday before 3 March`."""
    base = resolved(tokens[-1].value, now)
    if base is None or base.grain != "d":
        return None
    weekday = tokens[0].value
    if tokens[1].kind == "A":
        begins = base.start + timedelta(days=(weekday - base.start.weekday()) % 7 or 7)
    else:
        begins = base.start - timedelta(days=(base.start.weekday() - weekday) % 7 or 7)
    return time_token(TimeConstraints(within=Stretch(begins, begins + timedelta(days=1))))


def nth_after(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`third tuesday after christmas 2014`."""
    base = resolved(tokens[-1].value, now)
    if base is None or base.grain != "d":
        return None
    weekday, nth = of_kind("w", tokens).value, of_kind("o", tokens).value
    ahead = (weekday - base.start.weekday()) % 7 or 7
    begins = base.start + timedelta(days=ahead + 7 * (nth - 1))
    return time_token(TimeConstraints(within=Stretch(begins, begins + timedelta(days=1))))


def weekdays_ago(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`2 thursdays ago`, `in three fridays`."""
    count, weekday = int(number_of(of_kind("n", tokens))), of_kind("w", tokens).value
    today = floor(now, "d")
    if any(token.kind == "g" for token in tokens):
        begins = today - timedelta(days=((today.weekday() - weekday) % 7 or 7) + 7 * (count - 1))
    else:
        begins = today + timedelta(days=((weekday - today.weekday()) % 7 or 7) + 7 * (count - 1))
    return time_token(TimeConstraints(within=Stretch(begins, begins + timedelta(days=1))))


def closest(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the second closest Monday to Oct 5th`."""
    what, base = tokens[-3].value, resolved(tokens[-1].value, now)
    nth = tokens[0].value if tokens[0].kind == "o" else 1
    if base is None or base.grain != "d" or what.weekday is None:
        return None
    ahead = (what.weekday - base.start.weekday()) % 7
    days = sorted((ahead + 7 * week for week in range(-3, 4)), key=lambda days: (abs(days), -days))
    begins = base.start + timedelta(days=days[min(nth, 5) - 1])
    return time_token(TimeConstraints(within=Stretch(begins, begins + timedelta(days=1))))
