"""Candidates: sites that may become sources, how good each is and why, and what a person decided."""

import re
from collections.abc import Collection
from datetime import datetime
from enum import StrEnum

import msgspec

from tidemill.core.urls import host_of


class CandidateStatus(StrEnum):
    """What became of a candidate: it waits for a person, was taken or refused, or was not worth showing."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    SKIPPED = "skipped"


class CandidateSample(msgspec.Struct, frozen=True):
    """An event that was read on a candidate's page, to show what it would bring."""

    title: str
    starts: str
    place: str = ""


class CandidateEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What inspecting a candidate's page found.

    `records` were read, of which `upcoming` would be kept; `dates` and `words` count the date patterns and event
    words in its text.
    """

    records: int = 0
    upcoming: int = 0
    strategy: str = ""
    record_confidence: float = 0.0
    dates: int = 0
    words: int = 0
    names_place: bool = False
    search_score: float = 0.0
    samples: tuple[CandidateSample, ...] = ()


class Opinion(msgspec.Struct, frozen=True):
    """The language model's opinion of a page: whether it is an agenda of events, with a confidence from 0 to 1."""

    is_agenda: bool
    confidence: float


class Appraisal(msgspec.Struct, frozen=True):
    """How good a candidate is, from 0 to 1, by whom (`heuristics`, `hybrid`), and every reason in words."""

    confidence: float
    method: str
    reasons: tuple[str, ...]


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A site that may become a source: what was found, how good it is, and what a person said."""

    url: str
    canonical_url: str
    place: str
    title: str = ""
    status: CandidateStatus = CandidateStatus.PENDING
    confidence: float = 0.0
    method: str = "heuristics"
    reasons: tuple[str, ...] = ()
    samples: tuple[CandidateSample, ...] = ()
    found_at: datetime
    id: int = 0
    decided_at: datetime | None = None
    decided_by: str = ""
    note: str = ""
    source_id: int | None = None


_ENOUGH_EVENTS, _ENOUGH_DATES, _ENOUGH_WORDS = 8, 6, 10
_UNNAMED_SHARE = 0.5


def appraise(evidence: CandidateEvidence) -> Appraisal:
    """Rate a page by what was found on it; events that would be kept weigh most.

    A page that does not name its place counts for half: its events may be any other town's.
    """
    read = 0.5 * min(1.0, evidence.upcoming / _ENOUGH_EVENTS)
    read_confidence = 0.15 * evidence.record_confidence if evidence.upcoming else 0.0
    dates = 0.12 * min(1.0, evidence.dates / _ENOUGH_DATES)
    words = 0.08 * min(1.0, evidence.words / _ENOUGH_WORDS)
    named = 0.1 if evidence.names_place else 0.0
    share = 1.0 if evidence.names_place else _UNNAMED_SHARE
    search_score = 0.05 * evidence.search_score
    reasons = [
        f"{evidence.upcoming} of {evidence.records} records on the page would be kept"
        + (f", read by {evidence.strategy}" if evidence.strategy else ""),
        f"{evidence.dates} date patterns, {evidence.words} event words",
        "the page names the place" if evidence.names_place else "the page does not name the place",
    ]
    total = share * (read + read_confidence + dates + words + named + search_score)
    return Appraisal(round(min(1.0, total), 3), "heuristics", tuple(reasons))


_SAYS_NO_AT_MOST = 0.3
_UNPROVEN_AT_MOST = 0.5


def with_opinion(appraisal: Appraisal, opinion: Opinion, evidence: CandidateEvidence) -> Appraisal:
    """Return the appraisal combined with the model's opinion.

    The page's text is untrusted and may mislead the model: its opinion can lower a
    confidence without limit, but raises none past a half unless we read events ourselves on a page that
    names its place.
    """
    if not opinion.is_agenda:
        confidence = min(appraisal.confidence, _SAYS_NO_AT_MOST)
        words = f"the model says that this is no agenda of events (sure by {opinion.confidence:.2f})"
    else:
        is_proven = evidence.upcoming > 0 and evidence.names_place
        confidence = 0.6 * appraisal.confidence + 0.4 * opinion.confidence
        confidence = confidence if is_proven else min(confidence, _UNPROVEN_AT_MOST)
        words = f"the model says that this is an agenda of events (sure by {opinion.confidence:.2f})"
    return Appraisal(round(confidence, 3), "hybrid", (*appraisal.reasons, words))


def source_name(candidate: Candidate, known: Collection[str]) -> str:
    """Return a name for the source made from a candidate: its host, numbered when that is taken."""
    host = host_of(candidate.url).removeprefix("www.")
    name = re.sub(r"[^a-z0-9.-]+", "-", host.lower()).strip("-.") or "source"
    number, free = 2, name
    while free in known:
        free, number = f"{name}-{number}", number + 1
    return free
