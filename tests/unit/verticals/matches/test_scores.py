import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill.verticals.matches.reading.score_text import WrittenScore, read_score
from tidemill.verticals.matches.reading.status_words import break_in, match_status, outcome_in, pause_of
from tidemill.verticals.matches.record import BreakKind, MatchStatus, balls_of, overs_of

pytestmark = [pytest.mark.shows("M1"), pytest.mark.inventory(107)]


@given(st.integers(min_value=0, max_value=5_994))
def test_overs_and_balls_are_the_same_in_base_six(balls: int) -> None:
    assert balls_of(overs_of(balls)) == balls


def test_six_balls_in_the_fraction_are_a_whole_over() -> None:
    assert balls_of("12.6") == balls_of("13") == 78


@pytest.mark.parametrize("written", ["", "twelve", "12.7", "-3", "1e3", "12.34", "9999", "١٢.٣x"])
def test_what_is_no_number_of_overs_is_refused(written: str) -> None:
    assert balls_of(written) is None


@pytest.mark.parametrize(
    ("written", "score"),
    [
        ("187/5 (20.3 ov)", WrittenScore(187, 5, 123, is_declared=False)),
        ("412/8d (110 overs)", WrittenScore(412, 8, 660, is_declared=True)),
        ("95-3 (12.0)", WrittenScore(95, 3, 72, is_declared=False)),
        ("231 (48.2 ov)", WrittenScore(231, 10, 290, is_declared=False)),
        ("95/3", WrittenScore(95, 3, None, is_declared=False)),
        ("no score yet", None),
        ("95/13 (4 ov)", None),
    ],
)
def test_scores_are_read_as_scoreboards_write_them(written: str, score: WrittenScore | None) -> None:
    assert read_score(written) == score


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading_of_a_score(text: str) -> None:
    read_score(text)
    match_status(text)
    pause_of(text)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("In Progress", MatchStatus.LIVE),
        ("Innings Break", MatchStatus.LIVE),
        ("Stumps - Day 2", MatchStatus.LIVE),
        ("Rain delay", MatchStatus.LIVE),
        ("India won by 36 runs", MatchStatus.COMPLETED),
        ("Match drawn", MatchStatus.COMPLETED),
        ("Super Over in progress", MatchStatus.LIVE),
        ("Match abandoned due to rain", MatchStatus.ABANDONED),
        ("No result", MatchStatus.ABANDONED),
        ("Match starts at 14:00", MatchStatus.UPCOMING),
        ("ein Wort", None),
    ],
)
def test_words_for_a_status_are_understood(words: str, status: MatchStatus | None) -> None:
    assert match_status(words) == status


def test_breaks_are_told_apart() -> None:
    words = {
        "Lunch": "lunch",
        "tea interval": "tea",
        "Drinks break": "drinks",
        "bad light": "rain",
        "innings break": "innings",
    }
    assert {said: break_in(said) for said in words} == {said: BreakKind(kind) for said, kind in words.items()}
    assert pause_of("innings") is BreakKind.INNINGS
    assert pause_of("a dog on the field") is BreakKind.OTHER
    assert pause_of("") is None


def test_an_outcome_without_a_winner_is_named() -> None:
    assert [outcome_in(words) for words in ("Match tied", "drawn", "no result", "India won")] == [
        "tie",
        "draw",
        "no result",
        "",
    ]
