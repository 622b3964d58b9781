"""Many matches at once at the speed at which they are played, and how late each of their moments reaches a reader."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from statistics import quantiles
from typing import Any

import msgspec

from tidemill.lab.faults import Fault
from tidemill.lab.messages import REFUSED, LabRequest, LabResponse
from tidemill.verticals.matches.lab.script import PlayedMatch
from tidemill.verticals.matches.lab.sites import SITES, MatchSites
from tidemill.verticals.matches.lab.timeline import BEFORE, TrueMatch, TrueMoment, dealt

MARGIN = timedelta(minutes=3)
"""How long before the measuring a match has begun, and goes on after it, at least."""
Standing = tuple[Any, ...]


def crowd(count: int, now: datetime, lasts: timedelta, played: Sequence[PlayedMatch], seed: int) -> list[TrueMatch]:
    """Return so many matches that are under way now and for as long as told, each of teams of its own."""
    dice = Random(seed)  # noqa: S311 - a seeded choice
    found: list[TrueMatch] = []
    number = 0
    while len(found) < count:
        number += 1
        own = _renamed(played[number % len(played)], number)
        length = (match := dealt(own, seed, now)).ends_at - match.moments[0].at
        spare = length - lasts - BEFORE - 2 * MARGIN
        if spare > timedelta(0):
            found.append(dealt(own, seed, now - BEFORE - MARGIN - spare * dice.random()))
        elif number > count * len(played):
            msg = f"no match lasts {lasts}"
            raise ValueError(msg)
    return found


def _renamed(played: PlayedMatch, number: int) -> PlayedMatch:
    """Return the match as if other teams had played it: two matches of one pair of teams on a day are one."""
    teams = [(f"{name} {number}", f"{short}{number}") for name, short in played.teams]
    return msgspec.structs.replace(
        played, id=f"{played.id}-{number}", teams=(teams[0], teams[1]), title=f"{teams[0][0]} v {teams[1][0]}"
    )


class CutSites(MatchSites):
    """Sites of matches that can be cut off, all of them at once, while they are served."""

    is_cut = False

    def moved_to(self, origins: Mapping[str, str]) -> "CutSites":
        """Be at other addresses."""
        self.origins = {host: origins[host] for host in SITES}
        return self

    def respond(self, request: LabRequest, faults: tuple[Fault, ...], moment: datetime) -> LabResponse:
        """Answer a request, unless we are cut off."""
        return REFUSED if self.is_cut else super().respond(request, faults, moment)


class ToldMoments:
    """How late each moment of the matches reached a reader, in seconds."""

    def __init__(self, matches: Sequence[TrueMatch]) -> None:
        """Nothing is told yet."""
        self._matches = {match.played.title: match for match in matches}
        self._told: dict[str, int] = {}
        self.late: list[float] = []
        self.unknown: list[str] = []

    def reset(self) -> None:
        """Forget how late it was so far, not what was told."""
        self.late.clear()
        self.unknown.clear()

    def hear(self, state: Mapping[str, Any], at: datetime) -> None:
        """Take in the state that a reader has from now on: all moments up to it have reached him."""
        title = state["title"]
        match = self._matches[title]
        before = self._told.get(title)
        shown = _shown(state)
        now = match.index_at(at)
        first = 0 if before is None else before
        place = next((each for each in range(first, now + 1) if _standing(match.moments[each]) == shown), None)
        if place is None:
            self.unknown.append(f"{title} at {at:%H:%M:%S}: {shown}")
            return
        while place < now and _standing(match.moments[place + 1]) == shown:
            place += 1
        if before is not None:
            self.late += [
                (at - moment.at).total_seconds()
                for earlier, moment in zip(
                    match.moments[before:place], match.moments[before + 1 : place + 1], strict=True
                )
                if _standing(earlier) != _standing(moment)
            ]
        self._told[title] = place

    def in_play(self, title: str, at: datetime) -> bool:
        """Whether a match is bowled just now, and not on a break."""
        moment = self._matches[title].moments[self._matches[title].index_at(at)]
        return moment.pause is None and moment.status.value == "live"

    def missing(self, at: datetime) -> list[str]:
        """Return the matches of which moments older than ten seconds were not told."""
        found = []
        for title, match in self._matches.items():
            due = match.index_at(at - timedelta(seconds=10))
            told = self._told.get(title, -1)
            if told < 0 or (told < due and _standing(match.moments[told]) != _standing(match.moments[due])):
                found.append(title)
        return found


def _standing(moment: TrueMoment) -> Standing:
    innings = [(each.runs, each.wickets, each.balls) for each in moment.innings]
    return (*innings, moment.pause.value if moment.pause else None)


def _shown(state: Mapping[str, Any]) -> Standing:
    innings = [
        (each["runs"], each["wickets"], each["balls"])
        for _, each in sorted(state.get("innings", {}).items(), key=_number)
    ]
    return (*innings, state.get("break"))


def _number(item: tuple[str, Any]) -> int:
    return int(item[0])


def spread_of(values: Sequence[float]) -> dict[str, float]:
    """Return the median, higher percentiles and the greatest of some values."""
    if len(values) < 2:  # noqa: PLR2004 - quantiles need two
        return {"count": float(len(values))}
    cut = quantiles(values, n=100, method="inclusive")
    return {"count": float(len(values)), "p50": cut[49], "p95": cut[94], "p99": cut[98], "max": max(values)}
