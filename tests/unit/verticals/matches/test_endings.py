import pytest

from tidemill.verticals.matches.merging.ending import standing_of
from tidemill.verticals.matches.record import BreakKind, InningsScore, MatchResult, MatchStatus
from tidemill.verticals.matches.telling import MatchReading

pytestmark = pytest.mark.shows("M1", "B16")

COMPLETED, LIVE = MatchStatus.COMPLETED, MatchStatus.LIVE


def innings(number: int, runs: int, wickets: int = 3, balls: int = 120, **more: object) -> InningsScore:
    side = (number - 1) % 2
    return InningsScore(number=number, runs=runs, wickets=wickets, balls=balls, **{"side": side, **more})  # type: ignore[arg-type]


def said(*scores: InningsScore, limit: int | None = 120, **more: object) -> MatchReading:
    return MatchReading(innings=scores, status=COMPLETED, ball_limit=limit, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reading", "standing"),
    [
        (said(innings(1, 150)), (LIVE, BreakKind.INNINGS)),
        (said(innings(1, 150, balls=60)), (LIVE, BreakKind.OTHER)),
        (said(innings(1, 150), innings(2, 90, balls=70)), (LIVE, BreakKind.OTHER)),
        (said(innings(1, 150), innings(2, 151, balls=70)), (COMPLETED, None)),
        (said(innings(1, 150), innings(2, 90)), (COMPLETED, None)),
        (said(innings(1, 150), innings(2, 90, wickets=10, balls=70)), (COMPLETED, None)),
        (said(innings(1, 150), innings(2, 101, balls=70, target=101)), (COMPLETED, None)),
        (said(innings(1, 150), innings(2, 90, balls=70), result=MatchResult(winner="A")), (LIVE, BreakKind.OTHER)),
        (
            said(innings(1, 150), innings(2, 90, balls=70), result=MatchResult(winner="A", method="D/L")),
            (COMPLETED, None),
        ),
        (said(innings(1, 150), innings(2, 90, balls=70), result=MatchResult(outcome="no result")), (COMPLETED, None)),
    ],
)
def test_a_limited_match_is_over_when_its_score_says_so(
    reading: MatchReading, standing: tuple[MatchStatus, BreakKind | None]
) -> None:
    assert standing_of(reading) == standing


def test_a_test_match_is_over_when_it_is_decided_or_drawn() -> None:
    scores = (innings(1, 400), innings(2, 300), innings(3, 200))
    won = MatchResult(winner="A")
    assert standing_of(said(*scores, limit=None, result=won))[0] is LIVE
    assert standing_of(said(*scores, innings(4, 120, wickets=10), limit=None, result=won))[0] is COMPLETED
    assert standing_of(said(*scores, innings(4, 120, wickets=7), limit=None, result=won))[0] is LIVE
    drawn = MatchResult(outcome="draw")
    assert standing_of(said(*scores, innings(4, 120, wickets=7), limit=None, result=drawn))[0] is COMPLETED
    followed = innings(3, 80, wickets=10, side=1)
    assert standing_of(said(innings(1, 400), innings(2, 150), followed, limit=None, result=won))[0] is COMPLETED


def test_a_super_over_decides_a_tie() -> None:
    tied = (innings(1, 150), innings(2, 150))
    one, two = (innings(number, 8, balls=6, is_super_over=True) for number in (3, 4))
    assert standing_of(said(*tied, one))[0] is LIVE
    assert standing_of(said(*tied, one, two))[0] is COMPLETED
