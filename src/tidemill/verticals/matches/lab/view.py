"""How a site sees a match at a moment: the truth, as its faults let it through."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidemill.lab.faults import Fault, ScheduledFault
from tidemill.verticals.matches.lab.faults import Backwards, Disagrees, EarlyEnd, Flapping, Frozen, Lag, MissingField
from tidemill.verticals.matches.lab.timeline import TrueMatch
from tidemill.verticals.matches.record import Ball, BreakKind, InningsScore, MatchStatus

BALLS_SHOWN = 24


class MatchView(msgspec.Struct, frozen=True, kw_only=True):
    """A match as a site shows it; `missing` are the fields that are left out."""

    match: TrueMatch
    site_id: str
    status: MatchStatus
    innings: tuple[InningsScore, ...]
    balls: tuple[Ball, ...]
    pause: BreakKind | None
    says_finished: bool = False
    missing: frozenset[str] = frozenset()

    @property
    def has_result(self) -> bool:
        """Whether the result is known."""
        return self.status in {MatchStatus.COMPLETED, MatchStatus.ABANDONED}


def seen_at(moment: datetime, scheduled: Sequence[ScheduledFault]) -> datetime:
    """Return the moment whose state a site shows, which faults may put into the past."""
    for each in scheduled:
        match each.fault:
            case Lag(by=by):
                moment -= by
            case Frozen():
                moment = min(moment, each.begins)
            case Backwards(back=back):
                moment -= back
            case Flapping(back=back, every=every) if int((moment - each.begins) / every) % 2:
                moment -= back
            case _:
                continue
    return moment


def view_of(match: TrueMatch, site_id: str, moment: datetime, scheduled: Sequence[ScheduledFault]) -> MatchView:
    """Return how a site shows a match at a moment."""
    index = match.index_at(seen_at(moment, scheduled))
    true = match.moments[index]
    faults: list[Fault] = [each.fault for each in scheduled]
    innings = true.innings
    for fault in faults:
        if isinstance(fault, Disagrees):
            innings = tuple(
                msgspec.structs.replace(each, runs=each.runs + max(3, int(each.runs * fault.share))) for each in innings
            )
    ends_early = true.pause is not None and any(isinstance(fault, EarlyEnd) for fault in faults)
    return MatchView(
        match=match,
        site_id=site_id,
        status=true.status,
        innings=innings,
        balls=tuple(match.balls_at(index, BALLS_SHOWN)),
        pause=None if ends_early else true.pause,
        says_finished=ends_early,
        missing=frozenset(fault.field for fault in faults if isinstance(fault, MissingField)),
    )


def state_number(match: TrueMatch, moment: datetime, scheduled: Sequence[ScheduledFault]) -> int:
    """Return which of the match's moments a site shows: pages of one number are the same bytes."""
    return match.index_at(seen_at(moment, scheduled))
