"""What a score may do: within an innings it never falls, unless the source takes something back."""

from enum import StrEnum

from tidemill.verticals.matches.record import InningsScore

Score = tuple[InningsScore, ...]
CONFLICT_SHARE = 0.05
"""Runs or wickets that differ by more than this are a conflict."""


class ScoreStep(StrEnum):
    """What a told score is beside the shown one."""

    SAME = "same"
    AHEAD = "ahead"
    LOWER = "lower"


def step_between(shown: Score, told: Score) -> ScoreStep:
    """Return whether a told score goes on from the shown one, is the same, or is lower in anything."""
    if is_lower(shown, told):
        return ScoreStep.LOWER
    return ScoreStep.SAME if told == shown else ScoreStep.AHEAD


def is_lower(shown: Score, told: Score) -> bool:
    """Return whether anything fell: the number of innings, or runs, wickets or legal balls of one of them."""
    if len(told) < len(shown):
        return True
    return any(
        after.side != before.side
        or after.runs < before.runs
        or after.wickets < before.wickets
        or after.balls < before.balls
        for before, after in zip(shown, told, strict=False)
    )


def fallen(shown: Score, told: Score) -> list[tuple[InningsScore, InningsScore | None]]:
    """Return the innings that fell, as they were shown and as they are told; None for one that is gone."""
    by_number = {each.number: each for each in told}
    pairs = [(before, by_number.get(before.number)) for before in shown]
    return [(before, after) for before, after in pairs if after is None or is_lower((before,), (after,))]


def conflicts_between(shown: Score, told: Score) -> list[tuple[int, str, int, int]]:
    """Return innings, field and both values wherever runs or wickets differ by more than 5 %."""
    return [
        (before.number, field, one, other)
        for before, after in zip(shown, told, strict=False)
        for field, one, other in (("runs", before.runs, after.runs), ("wickets", before.wickets, after.wickets))
        if abs(one - other) > CONFLICT_SHARE * max(one, other)
    ]


def legal_balls_between(shown: Score, told: Score) -> int:
    """Return how many legal balls further a told score is."""
    return sum(each.balls for each in told) - sum(each.balls for each in shown)
