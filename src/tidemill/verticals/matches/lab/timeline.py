"""A match on a seeded clock: 25 to 45 seconds a ball, more at wickets, overs and breaks. This is the truth."""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

import msgspec

from tidemill.lab.dice import dice
from tidemill.verticals.matches.lab.script import BowledBall, PlayedInnings, PlayedMatch
from tidemill.verticals.matches.record import Ball, BreakKind, InningsScore, MatchStatus

BEFORE = timedelta(minutes=2)
"""How long a match is announced before its first ball is waited for."""
AMENDED_AFTER = timedelta(seconds=60)
BREAKS = {
    BreakKind.INNINGS: timedelta(minutes=10),
    BreakKind.LUNCH: timedelta(minutes=12),
    BreakKind.TEA: timedelta(minutes=8),
    BreakKind.DRINKS: timedelta(minutes=4),
    BreakKind.STUMPS: timedelta(minutes=30),
    BreakKind.RAIN: timedelta(minutes=15),
    BreakKind.OTHER: timedelta(minutes=5),
}
"""How long each break lasts; nights are short here."""


class TrueMoment(msgspec.Struct, frozen=True, kw_only=True):
    """How a match stands from a moment on, until the next one; `balls` counts the deliveries so far."""

    at: datetime
    status: MatchStatus
    innings: tuple[InningsScore, ...] = ()
    balls: int = 0
    pause: BreakKind | None = None
    amended: int | None = None


class TrueMatch:
    """A match with all its moments; every site shows one of them."""

    def __init__(self, played: PlayedMatch, moments: Sequence[TrueMoment], balls: Sequence[Ball]) -> None:
        """`balls` are all deliveries in order, as they were first recorded."""
        self.played = played
        self.moments = tuple(moments)
        self.balls = tuple(balls)
        self._times = [moment.at for moment in moments]
        self._amended = [(place, moment.amended) for place, moment in enumerate(moments) if moment.amended is not None]

    @property
    def starts_at(self) -> datetime:
        """When it is to start."""
        return self.moments[0].at + BEFORE

    @property
    def ends_at(self) -> datetime:
        """When the last thing happens."""
        return self.moments[-1].at

    def index_at(self, at: datetime) -> int:
        """Return the number of the moment that holds at a time."""
        return max(0, bisect_right(self._times, at) - 1)

    def balls_at(self, index: int, most: int) -> list[Ball]:
        """Return the last balls as they are recorded at a moment."""
        count = self.moments[index].balls
        found = list(self.balls[max(0, count - most) : count])
        for place, ball_place in self._amended:
            at = ball_place - max(0, count - most)
            if place <= index and 0 <= at < len(found):
                found[at] = msgspec.structs.replace(found[at], runs=self.amended_runs[ball_place])
        return found

    @property
    def amended_runs(self) -> dict[int, int]:
        """What amended balls are recorded as in the end, by their place in the match."""
        deliveries = [each for innings in self.played.innings for each in innings.deliveries]
        return {place: each.amended for place, each in enumerate(deliveries) if each.amended is not None}

    @property
    def final_balls(self) -> list[Ball]:
        """All balls as they are recorded in the end."""
        return self.balls_at(len(self.moments) - 1, len(self.balls))


def dealt(played: PlayedMatch, seed: int, start: datetime) -> TrueMatch:
    """Return a match on its clock."""
    return _Dealer(played, dice(seed, "clock", played.id), start).deal()


class _Dealer:
    def __init__(self, played: PlayedMatch, draw: Random, start: datetime) -> None:
        self._played = played
        self._draw = draw
        self._now = start
        self._innings: list[InningsScore] = []
        self._moments: list[TrueMoment] = []
        self._balls: list[Ball] = []
        self._amending: tuple[datetime, int, int] | None = None

    def deal(self) -> TrueMatch:
        self._moments.append(TrueMoment(at=self._now, status=MatchStatus.UPCOMING))
        self._now += BEFORE
        for number, innings in enumerate(self._played.innings, 1):
            self._play(number, innings)
        self._now += timedelta(seconds=30)
        ended = MatchStatus.ABANDONED if self._played.is_abandoned else MatchStatus.COMPLETED
        self._moments.append(self._moment(status=ended))
        return TrueMatch(self._played, self._moments, self._balls)

    def _play(self, number: int, innings: PlayedInnings) -> None:
        self._innings.append(
            InningsScore(
                number=number, side=innings.side, target=innings.target, is_follow_on=innings.is_follow_on,
                is_super_over=innings.is_super_over,
            )
        )  # fmt: skip
        self._moments.append(self._moment())
        for delivery in innings.deliveries:
            self._bowl(number, delivery)
        if innings.is_declared:
            self._now += timedelta(seconds=20)
            self._innings[-1] = msgspec.structs.replace(self._innings[-1], is_declared=True)
            self._moments.append(self._moment())
        if innings.pause_after is not None:
            self._break(innings.pause_after, resumes=False)

    def _bowl(self, number: int, delivery: BowledBall) -> None:
        self._now += timedelta(seconds=self._seconds(delivery))
        self._amend_if_due()
        before = self._innings[-1]
        self._innings[-1] = msgspec.structs.replace(
            before,
            runs=before.runs + delivery.runs + delivery.penalty,
            wickets=before.wickets + delivery.is_wicket,
            balls=before.balls + delivery.is_legal,
        )
        self._balls.append(
            Ball(
                innings=number, over=delivery.over, ball=delivery.ball, runs=delivery.runs, is_legal=delivery.is_legal,
                extra=delivery.extra, wicket=delivery.wicket, text=delivery.text,
            )
        )  # fmt: skip
        if delivery.penalty_to_others:
            self._give_to_others(delivery.penalty_to_others)
        self._moments.append(self._moment())
        if delivery.amended is not None:
            self._amending = (self._now + AMENDED_AFTER, len(self._balls) - 1, delivery.amended - delivery.runs)
        if delivery.pause is not None:
            self._break(delivery.pause, resumes=True)
        if delivery.target_after is not None:
            self._innings[-1] = msgspec.structs.replace(self._innings[-1], target=delivery.target_after)
            self._moments.append(self._moment())

    def _seconds(self, delivery: BowledBall) -> float:
        seconds = self._draw.uniform(25, 45)
        if delivery.ball == 1:
            seconds += self._draw.uniform(15, 40)
        return seconds + (self._draw.uniform(30, 90) if delivery.wicket else 0)

    def _give_to_others(self, runs: int) -> None:
        side = 1 - self._innings[-1].side
        place = max(place for place, each in enumerate(self._innings) if each.side == side)
        self._innings[place] = msgspec.structs.replace(self._innings[place], runs=self._innings[place].runs + runs)
        target = self._innings[-1].target
        if target is not None:
            self._innings[-1] = msgspec.structs.replace(self._innings[-1], target=target + runs)

    def _amend_if_due(self) -> None:
        if self._amending is None or self._now < self._amending[0]:
            return
        at, place, difference = self._amending
        self._amending = None
        number = self._balls[place].innings - 1
        self._innings[number] = msgspec.structs.replace(
            self._innings[number], runs=self._innings[number].runs + difference
        )
        later, self._now = self._now, at
        self._moments.append(msgspec.structs.replace(self._moment(), amended=place))
        self._now = later

    def _break(self, kind: BreakKind, *, resumes: bool) -> None:
        self._now += timedelta(seconds=20)
        self._moments.append(self._moment(pause=kind))
        self._now += BREAKS[kind]
        if resumes:
            self._moments.append(self._moment())

    def _moment(self, status: MatchStatus = MatchStatus.LIVE, pause: BreakKind | None = None) -> TrueMoment:
        return TrueMoment(
            at=self._now, status=status, innings=tuple(self._innings), balls=len(self._balls), pause=pause
        )
