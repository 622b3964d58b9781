"""Matches of our own making, for what the saved ones do not have: Tests, ties, rain, penalties, replacements."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import msgspec

from tidemill.lab.dice import dice
from tidemill.verticals.matches.lab.script import BowledBall, PlayedInnings, PlayedMatch, short_name
from tidemill.verticals.matches.record import BreakKind

_RUNS = (0, 0, 0, 1, 1, 1, 2, 4, 4, 6)
_ALL_OUT = 10
_KINDS = ("caught", "bowled", "lbw", "run out", "stumped")
_TEAMS = (
    ("Northport", "Eastvale"), ("Kingsmere", "Dunmoor"), ("Ashford Rovers", "Hollin Bay"), ("Saltmarsh", "Wexley"),
    ("Port Arden", "Brackenhill"), ("Stonegate", "Merrow"), ("Oakhaven", "Tarn Valley"), ("Fenwick", "Lower Sund"),
    ("Greywater", "Thornbury"),
)  # fmt: skip


def played(
    draw: Random, overs: int, *, wickets: int = 10, target: int | None = None, stop_at: int | None = None
) -> list[BowledBall]:
    """Return deliveries until the overs are bowled, everybody is out, the target is reached, or it stops."""
    found: list[BowledBall] = []
    out = runs = legal = 0
    for over in range(overs):
        ball = done = 0
        while done < 6:  # noqa: PLR2004
            ball += 1
            delivery = _delivery(draw, over, ball)
            if target is not None and runs + delivery.runs >= target and stop_at is not None:
                delivery = msgspec.structs.replace(delivery, runs=0, extra="", wicket="")
            found.append(delivery)
            runs += delivery.runs
            out += delivery.is_wicket
            done += delivery.is_legal
            legal += delivery.is_legal
            if out == wickets or (target is not None and runs >= target) or legal == stop_at:
                return found
    return found


def _delivery(draw: Random, over: int, ball: int) -> BowledBall:
    roll = draw.random()
    if roll < 0.04:  # noqa: PLR2004 - the share of wides
        return BowledBall(over=over, ball=ball, runs=1 + (draw.random() < 0.1), extra="wides")  # noqa: PLR2004
    if roll < 0.05:  # noqa: PLR2004 - and of no-balls
        return BowledBall(over=over, ball=ball, runs=1 + draw.choice((0, 1, 4)), extra="noballs")
    if roll < 0.08:  # noqa: PLR2004 - and of byes
        return BowledBall(over=over, ball=ball, runs=1, extra=draw.choice(("byes", "legbyes")))
    if roll < 0.11:  # noqa: PLR2004 - and of wickets
        return BowledBall(over=over, ball=ball, runs=0, wicket=draw.choice(_KINDS))
    return BowledBall(over=over, ball=ball, runs=draw.choice(_RUNS))


def total(deliveries: Sequence[BowledBall]) -> int:
    """Return the runs of an innings."""
    return sum((each.runs if each.amended is None else each.amended) + each.penalty for each in deliveries)


def is_all_out(deliveries: Sequence[BowledBall]) -> bool:
    """Return whether the last wicket fell."""
    return sum(each.is_wicket for each in deliveries) == _ALL_OUT


def with_change(deliveries: Sequence[BowledBall], place: int, **changes: Any) -> list[BowledBall]:
    """Return the deliveries with one of them changed."""
    found = list(deliveries)
    found[place] = msgspec.structs.replace(found[place], **changes)
    return found


def _match(name: str, number: int, innings: Sequence[PlayedInnings], **more: Any) -> PlayedMatch:
    one, two = _TEAMS[number]
    terms: dict[str, Any] = {
        "match_type": "T20", "overs": 20, "series": "Harbour Cup", "venue": f"{one} Oval", "toss": (one, "bat"),
    }  # fmt: skip
    return PlayedMatch(
        id=name,
        teams=((one, short_name(one)), (two, short_name(two))),
        title=f"{one} v {two}",
        innings=tuple(innings),
        players={team: [f"{team} player {place}" for place in range(1, 12)] for team in (one, two)},
        **(terms | more),
    )


def _chase(draw: Random, name: str, number: int, overs: int, first: list[BowledBall], **more: Any) -> PlayedMatch:
    """A limited match of two innings, decided by the balls that were drawn."""
    second = played(draw, overs, target=total(first) + 1)
    one, two = _TEAMS[number]
    winner = two if total(second) > total(first) else one
    return _match(
        name, number,
        [PlayedInnings(side=0, deliveries=tuple(first), pause_after=BreakKind.INNINGS),
         PlayedInnings(side=1, deliveries=tuple(second), target=total(first) + 1)],
        result={"winner": winner}, overs=overs, **more,
    )  # fmt: skip


def twenty_overs(draw: Random) -> PlayedMatch:
    """A T20 with drinks in each innings and a score that the scorers amend."""
    first = with_change(played(draw, 20), 40, pause=BreakKind.DRINKS)
    place = next(place for place, each in enumerate(first) if place > 50 and each.runs == 4 and not each.extra)  # noqa: PLR2004
    return _chase(draw, "twenty", 0, 20, with_change(first, place, amended=1))


def test_match(draw: Random) -> PlayedMatch:
    """Four innings with a declaration, lunch, tea and stumps."""
    first = played(draw, 60, wickets=9, stop_at=330)
    first = with_change(with_change(first, 60, pause=BreakKind.LUNCH), 120, pause=BreakKind.TEA)
    second = with_change(played(draw, 50), 30, pause=BreakKind.STUMPS)
    third = played(draw, 30, stop_at=150)
    target = max(1, total(first) + total(third) - total(second) + 1)
    fourth = played(draw, 70, target=target)
    won = total(fourth) >= target
    one, two = _TEAMS[1]
    return _match(
        "test", 1,
        [PlayedInnings(side=0, deliveries=tuple(first), is_declared=True, pause_after=BreakKind.INNINGS),
         PlayedInnings(side=1, deliveries=tuple(second), pause_after=BreakKind.INNINGS),
         PlayedInnings(side=0, deliveries=tuple(third), is_declared=True, pause_after=BreakKind.STUMPS),
         PlayedInnings(side=1, deliveries=tuple(fourth), target=target)],
        result={"winner": two if won else one} if won or is_all_out(fourth) else {"outcome": "draw"},
        match_type="Test", overs=None, series="Long Shield",
    )  # fmt: skip


def follow_on(draw: Random) -> PlayedMatch:
    """A side that follows on and loses by an innings: three innings, the second and third by the same side."""
    first = played(draw, 70, wickets=9, stop_at=400)
    second = played(draw, 16, wickets=10)
    second = [*second, *_wickets_until(second, 16)]
    third = played(draw, 14)
    third = [*third, *_wickets_until(third, 14)]
    one, _ = _TEAMS[2]
    return _match(
        "follow-on", 2,
        [PlayedInnings(side=0, deliveries=tuple(first), is_declared=True, pause_after=BreakKind.INNINGS),
         PlayedInnings(side=1, deliveries=tuple(second), pause_after=BreakKind.INNINGS),
         PlayedInnings(side=1, deliveries=tuple(third), is_follow_on=True)],
        result={"winner": one, "by": "an innings"}, match_type="Test", overs=None, series="Long Shield",
    )  # fmt: skip


def _wickets_until(deliveries: Sequence[BowledBall], over: int) -> list[BowledBall]:
    """The wickets that are missing for all out, one a ball."""
    missing = 10 - sum(each.is_wicket for each in deliveries)
    return [BowledBall(over=over + n // 6, ball=n % 6 + 1, runs=0, wicket="bowled") for n in range(missing)]


def tie_with_super_over(draw: Random) -> PlayedMatch:
    """A tie after 10 overs each, decided by a super over."""
    first = played(draw, 10)
    score = total(first)
    second = [BowledBall(over=each.over, ball=each.ball, runs=each.runs, extra=each.extra) for each in first]
    super_one = [BowledBall(over=0, ball=ball, runs=1) for ball in range(1, 7)]
    super_two = [BowledBall(over=0, ball=ball, runs=2) for ball in range(1, 5)]
    return _match(
        "super-over", 3,
        [PlayedInnings(side=0, deliveries=tuple(first), pause_after=BreakKind.INNINGS),
         PlayedInnings(side=1, deliveries=tuple(second), target=score + 1, pause_after=BreakKind.INNINGS),
         PlayedInnings(side=1, deliveries=tuple(super_one), is_super_over=True, pause_after=BreakKind.INNINGS),
         PlayedInnings(side=0, deliveries=tuple(super_two), is_super_over=True, target=7)],
        result={"winner": _TEAMS[3][0], "by": "super over"}, overs=10,
    )  # fmt: skip


def abandoned(draw: Random) -> PlayedMatch:
    """Rain after eight overs, and no more play."""
    first = played(draw, 8, wickets=10)
    return _match(
        "abandoned", 4, [PlayedInnings(side=0, deliveries=tuple(first), pause_after=BreakKind.RAIN)],
        result={"outcome": "no result"}, is_abandoned=True,
    )  # fmt: skip


def revised_target(draw: Random) -> PlayedMatch:
    """Rain in the second innings, and a target that is revised."""
    first = played(draw, 20)
    revised = max(5, total(first) * 2 // 3)
    second = played(draw, 14, target=revised)
    second = with_change(second, 20, pause=BreakKind.RAIN, target_after=revised)
    one, two = _TEAMS[5]
    return _match(
        "revised", 5,
        [PlayedInnings(side=0, deliveries=tuple(first), pause_after=BreakKind.INNINGS),
         PlayedInnings(side=1, deliveries=tuple(second), target=total(first) + 1)],
        result={"winner": two if total(second) >= revised else one, "method": "D/L"},
    )  # fmt: skip


def penalty_runs(draw: Random) -> PlayedMatch:
    """Five penalty runs to the batting side, and five to the other side's innings that is over."""
    first = with_change(played(draw, 15), 20, penalty=5)
    second = played(draw, 15, target=total(first) + 1)
    second = with_change(second, 12, penalty_to_others=5)
    needed = total(first) + 5 + 1
    second = second if total(second) < total(first) + 1 else [*second, *_runs_more(second, needed)]
    one, two = _TEAMS[6]
    return _match(
        "penalties", 6,
        [PlayedInnings(side=0, deliveries=tuple(first), pause_after=BreakKind.INNINGS),
         PlayedInnings(side=1, deliveries=tuple(second), target=total(first) + 1)],
        result={"winner": two if total(second) >= needed else one}, overs=15,
    )  # fmt: skip


def _runs_more(deliveries: Sequence[BowledBall], needed: int) -> list[BowledBall]:
    last, missing = deliveries[-1], needed - total(deliveries)
    return [BowledBall(over=last.over, ball=last.ball + 1, runs=missing, extra="noballs")] if missing > 0 else []


def retired_hurt(draw: Random) -> PlayedMatch:
    """A batter who retires hurt, which is no wicket."""
    first = played(draw, 12)
    place = next(place for place, each in enumerate(first) if place > 10 and not each.wicket and not each.extra)  # noqa: PLR2004
    return _chase(
        draw, "retired", 7, 12, with_change(first, place, wicket="retired hurt", text="hit on the arm, retires hurt")
    )


def concussion_replacement(draw: Random) -> PlayedMatch:
    """A player who is replaced after a blow to the head; the score does not care."""
    first = with_change(played(draw, 12), 25, text="replacement: player 12 for player 3 (concussion)")
    return _chase(draw, "concussion", 8, 12, first)


SCRIPTS: tuple[Callable[[Random], PlayedMatch], ...] = (
    twenty_overs, test_match, follow_on, tie_with_super_over, abandoned, revised_target, penalty_runs, retired_hurt,
    concussion_replacement,
)  # fmt: skip


def scripted_matches(seed: int) -> list[PlayedMatch]:
    """Return every scripted match, the same for the same seed."""
    return [make(dice(seed, "match", make.__name__)) for make in SCRIPTS]
