"""Whether a match that a site calls finished has ended: a break that is called the end is a break."""

from tidemill.verticals.matches.record import BreakKind, InningsScore, MatchStatus
from tidemill.verticals.matches.telling import MOST_WICKETS, MatchReading

_TIED = {"", "tie", "tied"}
_WITHOUT_WINNER = {"draw", "drawn", "tie", "tied", "no result", "abandoned", "cancelled"}
_SIDES_INNINGS = 2
_TEST_INNINGS = 4


def standing_of(reading: MatchReading) -> tuple[MatchStatus | None, BreakKind | None]:
    """Return how a match stands by one site's words, believed as far as its score bears them out."""
    if reading.status is MatchStatus.COMPLETED and not has_ended(reading):
        return MatchStatus.LIVE, reading.pause or _break_of(reading)
    if reading.status in {MatchStatus.COMPLETED, MatchStatus.ABANDONED, MatchStatus.UPCOMING}:
        return reading.status, None
    if reading.status is None:
        return (MatchStatus.LIVE, reading.pause) if reading.innings else (None, None)
    return reading.status, reading.pause


def has_ended(reading: MatchReading) -> bool:
    """Return whether the score shows that a match is over, or the source gives a result that no score can show.

    A draw, a tie, no result and a win by a revised target are taken at the source's word. A plain win must be in the
    score: the target reached, all out, or the balls used up. Where the score cannot tell, it is a break.
    """
    result = reading.result
    innings = [each for each in reading.innings if not each.is_super_over]
    super_overs = [each for each in reading.innings if each.is_super_over]
    if super_overs and (result is None or result.outcome in _TIED):
        return len(super_overs) % 2 == 0 and _is_decided(super_overs[-2:], reading.ball_limit, least=_SIDES_INNINGS)
    if result is not None and (result.outcome in _WITHOUT_WINNER or (result.winner and result.method)):
        return True
    if super_overs:
        return len(super_overs) % 2 == 0 and _is_decided(super_overs[-2:], reading.ball_limit, least=_SIDES_INNINGS)
    if reading.ball_limit is None:
        return result is not None and bool(result.winner) and _is_decided_test(innings)
    return _is_decided(innings, reading.ball_limit, least=_SIDES_INNINGS)


def _is_decided(innings: list[InningsScore], limit: int | None, *, least: int) -> bool:
    if len(innings) < least:
        return False
    first, last = innings[-2], innings[-1]
    target = last.target or first.runs + 1
    return last.runs >= target or _is_closed(last, limit)


def _is_closed(innings: InningsScore, limit: int | None) -> bool:
    most = 6 if innings.is_super_over else limit
    wickets = 2 if innings.is_super_over else MOST_WICKETS
    return innings.wickets >= wickets or (most is not None and innings.balls >= most)


def _is_decided_test(innings: list[InningsScore]) -> bool:
    """The last innings reached its target or is all out; three are enough if one side is still behind after two."""
    if len(innings) < _TEST_INNINGS - 1:
        return False
    last = innings[-1]
    total = [sum(each.runs for each in innings if each.side == side) for side in (0, 1)]
    lead = total[last.side] - total[1 - last.side]
    batted = sum(each.side == last.side for each in innings)
    if len(innings) == _TEST_INNINGS:
        return lead > 0 or last.wickets >= MOST_WICKETS
    return batted == _SIDES_INNINGS and last.wickets >= MOST_WICKETS and lead < 0


def _break_of(reading: MatchReading) -> BreakKind:
    """A finish that is none: between two innings if the last one is closed, else a break that nobody named."""
    last = reading.innings[-1] if reading.innings else None
    is_between = last is not None and (last.is_declared or _is_closed(last, reading.ball_limit))
    return BreakKind.INNINGS if is_between else BreakKind.OTHER
