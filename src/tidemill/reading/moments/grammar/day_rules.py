"""Rules about days, months and years that are named or numbered: `14 July`, `Friday the 13th`, `tomorrow`."""

from collections.abc import Sequence
from datetime import datetime

from tidemill.reading.moments.grammar.token_values import dom_of, number_of, of_kind, time_token
from tidemill.reading.moments.grammar.tokens import Token
from tidemill.reading.moments.grammar.when import DayTime, TimeConstraints, merged, unit_stretch


def day_and_month(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`14 July`, `July 14th`."""
    number = next(token for token in tokens if token.kind in "no")
    dom = dom_of(number_of(number))
    return time_token(TimeConstraints(month=of_kind("m", tokens).value, dom=dom)) if dom else None


def weekday_and_day(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`Friday the 13th`, `maandag 21`."""
    number = next(token for token in tokens if token.kind in "no")
    dom = dom_of(number_of(number))
    return time_token(TimeConstraints(weekday=of_kind("w", tokens).value, dom=dom)) if dom else None


def pair_of_days(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`14-10`: a day and a month, where the pair can be one."""
    value = tokens[0].value
    return time_token(TimeConstraints(month=value[2], dom=value[3])) if len(value) > 2 else None  # noqa: PLR2004


def bare_year(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`2026`, beside a time or a unit."""
    return time_token(TimeConstraints(year=tokens[-1].value))


def in_year(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`in 2026`, `third quarter of 2026`."""
    return time_token(TimeConstraints(year=of_kind("y", tokens).value))


def with_year(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`14 July 2026`: a time with its year."""
    return time_token(merged(tokens[0].value, TimeConstraints(year=tokens[-1].value)))


def named_month(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`July`: the month of that name."""
    return time_token(TimeConstraints(month=tokens[-1].value))


def named_weekday(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`Friday`: the weekday of that name."""
    return time_token(TimeConstraints(weekday=tokens[-1].value))


def ordinal_day(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`the 13th`: a day of a month that is left out."""
    dom = dom_of(tokens[-1].value)
    return time_token(TimeConstraints(dom=dom)) if dom else None


def relative_day(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`tomorrow`, `yesterday`: a day so many from today."""
    return time_token(TimeConstraints(within=unit_stretch(now, "d", tokens[-1].value)))


def tonight(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`tonight`, `late tonight`, `last night`: some hours of a day near today."""
    days, hours = tokens[-1].value
    late = tokens[0].kind == "3"
    return time_token(TimeConstraints(within=unit_stretch(now, "d", days), hours=(21, 24) if late else hours))


def right_now(_: Sequence[Token], now: datetime) -> Token | None:
    """`now`: this minute."""
    return time_token(TimeConstraints(within=unit_stretch(now, "d", 0), clock=DayTime(now.hour, now.minute)))


def merged_times(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`Friday at 8 pm`: two times that tell of one."""
    return time_token(merged(tokens[0].value, tokens[-1].value))
