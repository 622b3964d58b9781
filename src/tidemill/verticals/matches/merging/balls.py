"""Which balls a change brings: those that were told up to the shown score, each once and in order."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tidemill.verticals.matches.merging.memory import NO_PLACE, SiteMemory
from tidemill.verticals.matches.merging.state import OVERS_SHOWN, ball_json, last_place, place_of
from tidemill.verticals.matches.record import BALLS_PER_OVER, Ball, InningsScore

Place = tuple[int, int, int]


def told_balls(leader: SiteMemory, others: Iterable[SiteMemory], score: Sequence[InningsScore]) -> dict[Place, Ball]:
    """Return the balls up to a score, the leader's word first, then that of others where it has none."""
    assert leader.reading is not None  # noqa: S101 - a leader has told something
    found: dict[Place, Ball] = {}
    legal = {each.number: each.balls for each in score}
    for site in (leader, *others):
        if site.reading is not None:
            own = within(site.reading.balls, legal, is_own=site is leader)
            found = {ball.place: ball for ball in own} | found
    return found


def within(balls: Sequence[Ball], legal: Mapping[int, int], *, is_own: bool) -> list[Ball]:
    """Return the balls that a score contains; another's extras after its last legal ball may not be in it yet."""
    kept: list[Ball] = []
    over: tuple[int, int] = (0, 0)
    done = 0
    for ball in sorted(balls, key=lambda each: each.place):
        if (ball.innings, ball.over) != over:
            over, done = (ball.innings, ball.over), 0
        done += ball.is_legal
        bowled = ball.over * BALLS_PER_OVER + done
        allowed = legal.get(ball.innings, -1)
        if bowled <= allowed and (ball.is_legal or is_own or bowled < allowed):
            kept.append(ball)
    return kept


def shown_balls(
    before: Mapping[str, Any], told: Mapping[Place, Ball], last: Place, *, corrected: bool
) -> tuple[dict[str, Any], list[Ball]]:
    """Return the balls of the next state, and those of them that the log has not had yet.

    The last overs stay, older balls go; a ball that comes is in at least one state. After a correction the told balls
    alone stand for the overs that they cover; older ones, which the log has and the state had not, do not come back.
    """
    fresh = [ball for place, ball in sorted(told.items()) if place > last]
    kept = dict(before)
    if corrected and told:
        first, oldest = min(told), min(map(place_of, before), default=NO_PLACE)
        kept = {key: value for key, value in before.items() if place_of(key) < first}
        kept |= {ball.key: ball_json(ball) for place, ball in told.items() if oldest <= place <= last}
    else:
        kept |= {ball.key: ball_json(ball) for ball in told.values() if ball.key in before}
    kept |= {ball.key: ball_json(ball) for ball in fresh}
    innings, over, _ = last_place(kept)
    new = {ball.key for ball in fresh}
    recent = {
        key: value
        for key, value in kept.items()
        if key in new or (place_of(key)[0] == innings and place_of(key)[1] > over - OVERS_SHOWN)
    }
    return recent, fresh
