"""Rules about lengths of time, and times so long from another: `two and a half hours`, `a week before 14 May`."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

import msgspec

from tidemill.reading.moments.grammar.token_values import number_of, of_kind, time_token
from tidemill.reading.moments.grammar.tokens import Token
from tidemill.reading.moments.grammar.when import DayTime, TimeConstraints, is_date, merged, moved, unit_stretch


def length_of_unit(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`two weeks`: so many of a unit."""
    number, unit = number_of(tokens[0]), tokens[-1].value
    return Token("L", ((unit, number),))


def joined_lengths(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`two hours and ten minutes`: two lengths in a row."""
    return Token("L", tokens[0].value + tokens[-1].value)


def half_unit(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`half an hour`, `two and a half hours`."""
    unit = tokens[-1].value
    whole = number_of(tokens[0]) if tokens[0].kind == "n" and len(tokens) > 2 else Decimal(0)  # noqa: PLR2004 - more than `half an hour`
    if whole == 1 and tokens[1].kind == "H" and tokens[0].value[1]:  # `een half uur`, `one half hour`
        whole = Decimal(0)
    return Token("L", ((unit, whole + Decimal("0.5")),))


def unit_and_a_half(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`an hour and a half`."""
    return Token("L", ((tokens[1].value, number_of(tokens[0]) + Decimal("0.5")),))


def quarter_of_hour(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`kwartier`, `drie kwartier`."""
    count = number_of(tokens[0]) if tokens[0].kind == "n" else Decimal(1)
    return Token("L", (("m", 15 * count),))


def span_of(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`halfuur`, `90'`: a length that is one token."""
    return Token("L", (("s", Decimal(int(tokens[-1].value.total_seconds()))),))


def _away(tokens: Sequence[Token], now: datetime, sign: int) -> Token | None:
    """So long from now: a minute when it is told in hours or less, else a day; also the unit around it."""
    moment, lengths = now, of_kind("L", tokens).value
    try:
        for unit, count in lengths:
            moment = moved(moment, unit, float(count) * sign)
    except (OverflowError, ValueError):
        return None
    unit = lengths[-1][0]
    if any(unit in "smh" for unit, _ in lengths):
        return time_token(
            TimeConstraints(within=unit_stretch(moment, "d", 0), clock=DayTime(moment.hour, moment.minute))
        )
    return Token("W", (unit_stretch(moment, "d", 0), unit_stretch(moment, unit, 0)))


def length_ago(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`two weeks ago`."""
    return _away(tokens, now, -1)


def length_ahead(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`in two weeks`."""
    return _away(tokens, now, 1)


def unit_ago(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`week ago`: one of them."""
    return _away([Token("L", ((tokens[0].value, Decimal(1)),))], now, -1 if tokens[-1].kind == "g" else 1)


def away_day(tokens: Sequence[Token], _: datetime) -> Token | None:
    """The day so long from now, where nothing else tells of it."""
    return time_token(TimeConstraints(within=tokens[0].value[0]))


def feast_then(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`thanksgiving in 9 months`: the one of that month or year."""
    when = of_kind("T", tokens).value
    return (
        time_token(merged(when, TimeConstraints(within=of_kind("W", tokens).value[1])))
        if when.feast or when.weekday is not None
        else None
    )


def _beside(tokens: Sequence[Token], _: datetime, sign: int) -> Token | None:
    """`three days after Easter`, `a week before 14 May`."""
    lengths, when = tokens[0].value, tokens[-1].value
    if len(lengths) != 1 or when.shift is not None or not is_date(when) or lengths[0][1] != int(lengths[0][1]):
        return None
    return time_token(msgspec.structs.replace(when, shift=(lengths[0][0], sign * int(lengths[0][1]))))


def length_after(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`three days after Easter`."""
    return _beside(tokens, now, 1)


def length_before(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`a week before 14 May`."""
    return _beside(tokens, now, -1)


def unit_beside(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the day before Christmas`, `de week na Pasen`: one unit before or after."""
    sign = 1 if tokens[1].kind == "A" else -1
    return _beside([Token("L", ((tokens[0].value, Decimal(1)),)), tokens[1], tokens[-1]], now, sign)


def weekday_ahead(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`vrijdag over een week`: so many weeks behind the coming one."""
    when, lengths = tokens[0].value, tokens[-1].value
    if when.weekday is None or when.shift is not None or len(lengths) != 1 or lengths[0][0] != "w":
        return None
    return time_token(msgspec.structs.replace(when, shift=("w", int(lengths[0][1]))))


def week_later(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`Friday week`, `tomorrow week`: seven days behind it."""
    when = tokens[0].value
    if tokens[-1].value != "w" or when.shift is not None or (when.weekday is None and when.within is None):
        return None
    return time_token(msgspec.structs.replace(when, shift=("w", 1)))
