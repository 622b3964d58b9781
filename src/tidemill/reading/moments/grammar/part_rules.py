"""Rules about a part of a time: `end of the month`, `early in the morning`, `the rest of the week`."""

from collections.abc import Sequence
from datetime import datetime

from tidemill.reading.moments.grammar.token_values import of_kind, time_token
from tidemill.reading.moments.grammar.tokens import Token
from tidemill.reading.moments.grammar.when import (
    Stretch,
    TimeConstraints,
    floor,
    is_date,
    moved,
    resolved,
    unit_stretch,
)


def part_of(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`end of the month`, `begin maart`, `mid July`, `early next week`."""
    which = next(token.kind for token in tokens if token.kind in "123E")
    if which == "E":
        which, unit = of_kind("E", tokens).value
        span: Stretch | None = unit_stretch(now, unit, 0)
    elif tokens[-1].kind == "u":
        span = unit_stretch(now, tokens[-1].value, 0)
    else:
        span = resolved(tokens[-1].value, now)
    if span is None or span.grain not in _THIRDS:
        return None
    edges = [*(moved(span.start, *step) for step in _THIRDS[span.grain]), span.end]
    index = {"1": (0, 1), "2": (1, 2), "3": (2, 3)}[which]
    return time_token(TimeConstraints(within=Stretch(edges[index[0]], edges[index[1]], "D")))


_THIRDS = {
    "w": (("d", 0), ("d", 3), ("d", 4)), "M": (("d", 0), ("d", 10), ("d", 20)), "y": (("M", 0), ("M", 3), ("M", 8)),
}  # fmt: skip


def middle_of_month(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`half maart`: its middle."""
    return part_of([Token("2"), Token("T", TimeConstraints(month=tokens[-1].value))], now)


def edge_of_part(tokens: Sequence[Token], _: datetime) -> Token | None:
    """`early in the morning`, `late in the evening`."""
    when = tokens[-1].value
    if when.hours not in _EDGES_OF_PARTS or is_date(when) or when.clock is not None:
        return None
    return time_token(TimeConstraints(hours=_EDGES_OF_PARTS[when.hours][tokens[0].kind == "3"]))


_EDGES_OF_PARTS = {(0, 12): ((0, 9), (9, 12)), (12, 18): ((12, 15), (15, 18)), (18, 24): ((18, 21), (21, 24))}


def by_then(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`by the end of the month`: from now until then."""
    span = resolved(tokens[-1].value, now)
    if span is None or span.start < now:
        return None
    end = span.end if span.grain == "D" else span.start
    return time_token(TimeConstraints(within=Stretch(now.replace(second=0, microsecond=0), end, "D")))


def rest_of_unit(tokens: Sequence[Token], now: datetime) -> Token | None:
    """`the rest of the week`: from today until its end."""
    unit = tokens[-1].value
    span = unit_stretch(now, unit, 0)
    return time_token(TimeConstraints(within=Stretch(floor(now, "d"), span.end, "D"))) if unit in "wMy" else None
