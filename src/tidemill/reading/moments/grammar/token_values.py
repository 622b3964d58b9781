"""What rules read from a token and make into one: a number, a day of a month, a time of the day, a time."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

import msgspec

from tidemill.reading.moments.grammar.tokens import Token
from tidemill.reading.moments.grammar.when import DayTime, TimeConstraints

NOON = 12
_DAYS_OF_MONTH = 31


def time_token(when: TimeConstraints | None) -> Token | None:
    """Return the token of a time; None where there is none."""
    return Token("T", when) if when is not None else None


def of_kind(kind: str, tokens: Sequence[Token]) -> Token:
    """Return the first token of a kind."""
    return next(token for token in tokens if token.kind == kind)


def dom_of(number: Decimal | int) -> int | None:
    """Return a number as a day of a month; None when no month has such a day."""
    return int(number) if number == int(number) and 1 <= number <= _DAYS_OF_MONTH else None


def number_of(token: Token) -> Decimal:
    """Return the number that a token tells."""
    return token.value[0] if token.kind in "nv" else Decimal(token.value)


def as_clock(token: Token, *, whole: bool = True) -> DayTime | None:
    """A token as a time of the day: a clock, or a number of hours; unless `whole`, hours and minutes such as 1030."""
    if token.kind == "c":
        clock: DayTime = token.value
        return clock
    if token.kind == "y":
        return None if whole else DayTime.of(token.value // 100, token.value % 100)
    number = number_of(token)
    if number != int(number) or (whole and number > 24):  # noqa: PLR2004 - hours of a day
        return None
    said = token.value[1]
    hours, minutes = (int(number), 0) if number <= 24 else divmod(int(number), 100)  # noqa: PLR2004 - hours of a day
    clock_read = DayTime.of(hours, minutes)
    return msgspec.structs.replace(clock_read, open=1 <= hours < NOON, said=said) if clock_read else None


def plain(tokens: Sequence[Token], _: datetime) -> Token | None:
    """Return the last token: what stands before it adds nothing."""
    return tokens[-1]
