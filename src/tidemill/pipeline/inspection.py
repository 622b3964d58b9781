"""Inspection of a candidate's page: fetched through the usual gates, read and judged by its vertical."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.discovery.candidates import (
    Candidate,
    CandidateEvidence,
    CandidateSample,
    CandidateStatus,
    Opinion,
    appraise,
    with_opinion,
)
from tidemill.core.discovery.places import Place, is_named
from tidemill.core.discovery.search import SearchProfile, ShortlistedSite, count_words
from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.pacing import Pace
from tidemill.core.page import Page
from tidemill.core.record import Found, RawRecord
from tidemill.core.source import Source
from tidemill.core.urls import registrable_domain
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Context, Vertical
from tidemill.pipeline.model_budget import BudgetedModel
from tidemill.pipeline.outside_services import NoAnswer
from tidemill.pipeline.page_reading import judge, read_with_adapter
from tidemill.pipeline.ports import Clock, Fetcher, FetchRequest, FetchResult
from tidemill.pipeline.reader_functions.function import FunctionReaders, ReaderFunction
from tidemill.reading import Document, find_moments

DEFAULT_PACE = Pace()
MIN_CONFIDENCE = 0.2
"""Confidence under which a candidate is not shown to a person."""
_SAMPLES = 5
_MAX_TEXT = 20_000
_MAX_MODEL_TEXT = 1_200
_MAX_RECORDS = 500

REPLY_SCHEMA: Mapping[str, Any] = {
    "type": "OBJECT",
    "properties": {
        "answers": {
            "type": "ARRAY",
            "items": {
                "type": "OBJECT",
                "properties": {
                    "id": {"type": "INTEGER"},
                    "is_agenda": {"type": "BOOLEAN"},
                    "sureness": {"type": "NUMBER"},
                },
                "required": ["id", "is_agenda", "sureness"],
            },
        }
    },
    "required": ["answers"],
}


class _Judged(msgspec.Struct, frozen=True):
    id: int
    is_agenda: bool
    sureness: float


class _Reply(msgspec.Struct, frozen=True):
    answers: list[_Judged]


_decode = msgspec.json.Decoder(_Reply).decode


class InspectedSite(msgspec.Struct, frozen=True):
    """The result of an inspection: the candidate as rated by heuristics, and the text that the model may see."""

    candidate: Candidate
    evidence: CandidateEvidence
    text: str = ""


class CandidatePage(msgspec.Struct, frozen=True, kw_only=True):
    """A page that was fetched for one vertical, why it was looked for, and the place it should be about."""

    vertical: str
    site: ShortlistedSite
    place: Place
    page: Page


@dataclass(frozen=True, slots=True)
class SiteInspector:
    """Inspects pages for one vertical, with the adapter that its profile names; they are read by the readers."""

    vertical: Vertical
    profile: SearchProfile
    fetcher: Fetcher
    clock: Clock
    readers: FunctionReaders
    pace: Pace = DEFAULT_PACE

    async def inspect(self, site: ShortlistedSite, place: Place) -> InspectedSite:
        """Fetch and rate a site; one that cannot be fetched or read is skipped, with the reason."""
        result = await self.fetcher.fetch(
            FetchRequest(url=site.url, host=registrable_domain(site.url), pace=self.pace)
        )  # fmt: skip
        now = self.clock.now()
        if result.failure is not None:
            return skipped_site(site, place, f"cannot be reached: {result.failure} {result.error}".strip(), now)
        asked = CandidatePage(vertical=self.vertical.name, site=site, place=place, page=_page(result, now))
        inspected = await self.readers.call(INSPECTED, asked)
        if isinstance(inspected, Fail):
            return skipped_site(site, place, f"cannot be read: {inspected.failure} {inspected.detail}".strip(), now)
        return inspected


def inspect_page(asked: CandidatePage, verticals: Mapping[str, Vertical]) -> InspectedSite:
    """Read and rate a page; one that cannot be read is skipped, with the reason."""
    site, place, page, vertical = asked.site, asked.place, asked.page, verticals[asked.vertical]
    profile = vertical.discovery
    if profile is None:
        return skipped_site(site, place, "its vertical is not searched for", page.fetched_at)
    source = Source(
        id=0, name=place.common_name, vertical=vertical.name, base_url=page.final_url, adapter_id=profile.adapter_id,
        city=place.common_name, coordinates=place.coordinates, language=place.language, time_zone=place.time_zone,
    )  # fmt: skip
    context = Context(source, page.final_url, page.fetched_at)
    reading = read_with_adapter(vertical.adapters[profile.adapter_id], page, context)
    if isinstance(reading, Fail) and reading.failure is not Failure.LAYOUT_CHANGED:
        why = f"cannot be read: {reading.failure} {reading.detail}".strip()
        return skipped_site(site, place, why, page.fetched_at)
    document = Document.of(page)
    records = list(reading.records)[:_MAX_RECORDS] if isinstance(reading, Found) else []
    kept = [raw for raw in records if isinstance(judge(vertical, raw, context), Accepted)]
    evidence = _evidence(asked, document, profile, len(records), kept)
    appraisal = appraise(evidence)
    candidate = msgspec.structs.replace(
        candidate_of(site, place, page.fetched_at), title=(document.title or site.title)[:300],
        samples=evidence.samples, confidence=appraisal.confidence, method=appraisal.method, reasons=appraisal.reasons,
    )  # fmt: skip
    listed = "; ".join(f"{one.starts} {one.title}" for one in evidence.samples)
    return InspectedSite(candidate, evidence, (document.text or listed)[:_MAX_MODEL_TEXT])


def _evidence(
    asked: CandidatePage, document: Document, profile: SearchProfile, records: int, kept: Sequence[RawRecord]
) -> CandidateEvidence:
    text = document.text[:_MAX_TEXT]
    return CandidateEvidence(
        records=records,
        upcoming=len(kept),
        strategy=kept[0].strategy if kept else "",
        record_confidence=kept[0].confidence if kept else 0.0,
        dates=len(find_moments(text, asked.page.fetched_at, asked.place.time_zone, asked.place.language)),
        words=count_words(text, profile),
        names_place=is_named(asked.place, f"{document.title} {text} {_words_of(kept)}"),
        search_score=asked.site.score,
        samples=tuple(_sample(raw) for raw in kept[:_SAMPLES]),
    )


def candidate_of(site: ShortlistedSite, place: Place, now: datetime) -> Candidate:
    """Return a candidate of which nothing is known yet."""
    return Candidate(url=site.url, canonical_url=site.canonical_url, place=place.name, title=site.title, found_at=now)


def skipped_site(site: ShortlistedSite, place: Place, why: str, now: datetime) -> InspectedSite:
    """Return a site that is of no use, and why."""
    bare = candidate_of(site, place, now)
    return InspectedSite(
        msgspec.structs.replace(bare, status=CandidateStatus.SKIPPED, reasons=(why[:500],)), CandidateEvidence()
    )


INSPECTED = ReaderFunction("site.inspected", CandidatePage, InspectedSite, inspect_page)


def with_model_opinion(inspected: InspectedSite, opinion: Opinion | None) -> Candidate:
    """Return the candidate with the model's opinion included; one under `MIN_CONFIDENCE` is skipped."""
    candidate = inspected.candidate
    if candidate.status is CandidateStatus.SKIPPED:
        return candidate
    if opinion is not None:
        appraisal = with_opinion(appraise(inspected.evidence), opinion, inspected.evidence)
        candidate = msgspec.structs.replace(
            candidate, confidence=appraisal.confidence, method=appraisal.method, reasons=appraisal.reasons
        )
    is_worth = candidate.confidence >= MIN_CONFIDENCE
    return candidate if is_worth else msgspec.structs.replace(candidate, status=CandidateStatus.SKIPPED)


async def ask_opinions(
    model: BudgetedModel, inspected: Sequence[InspectedSite], profile: SearchProfile
) -> dict[int, Opinion] | NoAnswer:
    """Return the model's opinions of these pages by index; invalid ones are left out."""
    shown = [(number, one) for number, one in enumerate(inspected) if one.text]
    if not shown:
        return {}
    lines = "\n".join(
        msgspec.json.encode({"id": number, "title": one.candidate.title, "text": one.text}).decode()
        for number, one in shown
    )
    reply, _ = await model.ask(profile.prompt.replace("{pages}", lines), REPLY_SCHEMA)
    return reply if isinstance(reply, NoAnswer) else read_opinions(reply.text, {number for number, _ in shown})


def read_opinions(reply: bytes, asked: set[int]) -> dict[int, Opinion]:
    """Return the valid opinions in a reply."""
    try:
        answers = _decode(reply).answers
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return {
        each.id: Opinion(each.is_agenda, round(each.sureness, 3))
        for each in answers
        if each.id in asked and 0 <= each.sureness <= 1
    }


def _page(result: FetchResult, now: datetime) -> Page:
    return Page(
        id=0, url=result.url, final_url=result.final_url or result.url, status_code=result.status_code,
        body=result.body, charset=result.charset, content_type=result.content_type, digest=result.digest,
        fetched_at=result.requested_at or now,
    )  # fmt: skip


def _words_of(records: Sequence[RawRecord]) -> str:
    """Return what the records say in words: structured data is part of its page, though not of its text."""
    words = (str(value) for raw in records for value in raw.fields.values() if isinstance(value, str))
    return " ".join(words)[:_MAX_TEXT]


def _sample(raw: RawRecord) -> CandidateSample:
    title, starts, place = (str(raw.fields.get(name, "")) for name in ("title", "starts", "place"))
    return CandidateSample(title[:200], starts[:100], place[:100])
