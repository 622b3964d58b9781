"""The laws of a match's log: equal to the truth ball for ball, none lost, doubled or out of order, never backwards."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from tidemill.core.live.change import ChangeKind
from tidemill.verticals.matches.lab.timeline import TrueMatch
from tidemill.verticals.matches.merging.state import ball_json, innings_json, place_of


class LoggedStep(msgspec.Struct, frozen=True):
    """An entry of a log: its kind, its patch, what it says was skipped, and the state after it."""

    kind: ChangeKind
    patch: Mapping[str, Any]
    skipped: int
    state: Mapping[str, Any]


class LogVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a log; nothing, if every list is empty."""

    lost: list[str]
    doubled: list[str]
    out_of_order: list[str]
    backwards: list[str]
    wrong: list[str]
    balls: int
    corrections: int
    skipped: int

    @property
    def is_clean(self) -> bool:
        """Whether the log tells the truth."""
        return not (self.lost or self.doubled or self.out_of_order or self.backwards or self.wrong)


def judged(match: TrueMatch, steps: Sequence[LoggedStep]) -> LogVerdict:
    """Compare a log with the truth."""
    truth = {ball.key: ball_json(ball) for ball in match.final_balls}
    told: dict[str, Any] = {}
    doubled: list[str] = []
    out_of_order: list[str] = []
    taken_back: set[str] = set()
    last = (0, 0, 0)
    for step in steps:
        new = {key: value for key, value in step.patch.get("balls", {}).items() if value is not None}
        whole = step.state.get("balls", {})
        if step.kind is ChangeKind.CORRECTION:
            last_shown = max(map(place_of, whole), default=(0, 0, 0))
            taken_back |= {key for key in told if place_of(key) > last_shown}
            last = min(last, last_shown)
        for key in sorted(new, key=place_of):
            if key in told and key not in taken_back and _is_new_in(key, step, steps):
                doubled.append(key)
            if key not in told and place_of(key) < last:
                out_of_order.append(key)
            taken_back.discard(key)
            told[key] = whole[key]
            last = max(last, place_of(key))
    end = match.moments[-1]
    final = {str(each.number): innings_json(each) for each in end.innings}
    shown = steps[-1].state.get("innings", {}) if steps else {}
    wrong = [f"{key}: {told[key]} is {truth[key]}" for key in told if key in truth and told[key] != truth[key]]
    wrong += [f"{key} was never bowled" for key in told if key not in truth]
    wrong += [
        f"innings {number}: {shown.get(number)} is {each}"
        for number, each in final.items()
        if shown.get(number) != each
    ]
    if steps and steps[-1].state.get("status") != end.status.value:
        wrong.append(f"status {steps[-1].state.get('status')} is {end.status.value}")
    return LogVerdict(
        lost=[key for key in truth if key not in told],
        doubled=doubled,
        out_of_order=out_of_order,
        backwards=list(_backwards(steps)),
        wrong=wrong,
        balls=len(told),
        corrections=sum(step.kind is ChangeKind.CORRECTION for step in steps),
        skipped=sum(step.skipped for step in steps),
    )


def _is_new_in(key: str, step: LoggedStep, steps: Sequence[LoggedStep]) -> bool:
    """Whether a ball comes as new: the state before did not have it. A ball that is amended is told again in place."""
    place = steps.index(step)
    return place == 0 or key not in steps[place - 1].state.get("balls", {})


def _backwards(steps: Sequence[LoggedStep]) -> Iterable[str]:
    """Every fall of runs, wickets, balls or innings in an entry that is no correction."""
    for before, after in pairwise(steps):
        if after.kind is ChangeKind.CORRECTION:
            continue
        was, now = before.state.get("innings", {}), after.state.get("innings", {})
        for number, each in was.items():
            fell = [name for name in ("runs", "wickets", "balls") if now.get(number, {}).get(name, -1) < each[name]]
            if fell:
                yield f"innings {number}: {each} to {now.get(number)}"
