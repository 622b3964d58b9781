"""A look at a candidate's page: through the usual gates, read by the usual adapter, judged by the usual rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.candidates import (
    Candidate,
    CandidateEvidence,
    CandidateSample,
    CandidateStatus,
    Opinion,
    appraise,
    with_opinion,
)
from tidemill.core.discovery import SearchProfile, ShortlistedSite, count_words
from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.pacing import Pace
from tidemill.core.page import Page
from tidemill.core.places import Place
from tidemill.core.record import Found, RawRecord, Reading
from tidemill.core.source import Source
from tidemill.core.urls import registrable_domain
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Context, Vertical
from tidemill.pipeline.model_budget import BudgetedModel
from tidemill.pipeline.normalize import judge
from tidemill.pipeline.outside_services import NoAnswer
from tidemill.pipeline.ports import Clock, Fetcher, FetchRequest, FetchResult
from tidemill.reading import Document, find_moments

USUAL_PACE = Pace()
WORTH_SHOWING = 0.2
"""Confidence under which a page is not put before a person."""
_SAMPLES = 5
_READ_OF_TEXT = 20_000
_SHOWN_TO_MODEL = 1_200
_ENOUGH_SAMPLES_READ = 500

SHAPE: Mapping[str, Any] = {
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
    """What a look found: the candidate as heuristics judge it, and what the model may be shown of its page."""

    candidate: Candidate
    evidence: CandidateEvidence
    text: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """Looks at pages for one vertical, with the adapter that its profile names."""

    vertical: Vertical
    profile: SearchProfile
    fetcher: Fetcher
    clock: Clock
    pace: Pace = USUAL_PACE

    async def at(self, pick: ShortlistedSite, place: Place) -> InspectedSite:
        """The candidate that a search result turns out to be; one out of reach is skipped, with the reason."""
        result = await self.fetcher.fetch(
            FetchRequest(url=pick.url, host=registrable_domain(pick.url), pace=self.pace)
        )  # fmt: skip
        now = self.clock.now()
        if result.failure is not None:
            return self._skipped(pick, place, f"cannot be reached: {result.failure} {result.error}".strip(), now)
        page = _page(result, now)
        reading = self._read(page, place)
        if isinstance(reading, Fail) and reading.failure is not Failure.LAYOUT_CHANGED:
            return self._skipped(pick, place, f"cannot be read: {reading.failure} {reading.detail}".strip(), now)
        document = Document.of(page)
        evidence = self._evidence(pick, place, document, reading, page)
        appraisal = appraise(evidence)
        candidate = msgspec.structs.replace(
            self._candidate(pick, place, now), title=(document.title or pick.title)[:300], samples=evidence.samples,
            confidence=appraisal.confidence, method=appraisal.method, reasons=appraisal.reasons,
        )  # fmt: skip
        listed = "; ".join(f"{one.starts} {one.title}" for one in evidence.samples)
        return InspectedSite(candidate, evidence, (document.text or listed)[:_SHOWN_TO_MODEL])

    def _read(self, page: Page, place: Place) -> Reading:
        try:
            return self.vertical.adapters[self.profile.adapter_id].read(page, self._context(page, place))
        except Exception as error:  # noqa: BLE001 - an adapter's crash on a stranger's page is that page's failure
            return Fail(Failure.ADAPTER_CRASHED, type(error).__name__)

    def _evidence(
        self, pick: ShortlistedSite, place: Place, document: Document, reading: Reading, page: Page
    ) -> CandidateEvidence:
        records = list(reading.records)[:_ENOUGH_SAMPLES_READ] if isinstance(reading, Found) else []
        context = self._context(page, place)
        kept = [raw for raw in records if isinstance(judge(self.vertical, raw, context), Accepted)]
        text = document.text[:_READ_OF_TEXT]
        return CandidateEvidence(
            records=len(records),
            upcoming=len(kept),
            strategy=kept[0].strategy if kept else "",
            record_confidence=kept[0].confidence if kept else 0.0,
            dates=len(find_moments(text, page.fetched_at)),
            words=count_words(text, self.profile),
            names_place=place.common_name.lower() in f"{document.title} {text}".lower(),
            search_score=pick.score,
            samples=tuple(_sample(raw) for raw in kept[:_SAMPLES]),
        )

    def _context(self, page: Page, place: Place) -> Context:
        source = Source(
            id=0, name=place.common_name, vertical=self.vertical.name, base_url=page.final_url,
            adapter_id=self.profile.adapter_id,
            city=place.common_name, coordinates=place.coordinates,
        )  # fmt: skip
        return Context(source, page.final_url, page.fetched_at)

    def _candidate(self, pick: ShortlistedSite, place: Place, now: datetime) -> Candidate:
        return Candidate(
            url=pick.url, canonical_url=pick.canonical_url, place=place.name, title=pick.title, found_at=now
        )

    def _skipped(self, pick: ShortlistedSite, place: Place, why: str, now: datetime) -> InspectedSite:
        bare = self._candidate(pick, place, now)
        return InspectedSite(
            msgspec.structs.replace(bare, status=CandidateStatus.SKIPPED, reasons=(why[:500],)), CandidateEvidence()
        )


def settled(looked: InspectedSite, opinion: Opinion | None) -> Candidate:
    """The candidate with the model's opinion in it; what is not worth a person's time is skipped, with every reason."""
    candidate = looked.candidate
    if candidate.status is CandidateStatus.SKIPPED:
        return candidate
    if opinion is not None:
        appraisal = with_opinion(appraise(looked.evidence), opinion, looked.evidence)
        candidate = msgspec.structs.replace(
            candidate, confidence=appraisal.confidence, method=appraisal.method, reasons=appraisal.reasons
        )
    is_worth = candidate.confidence >= WORTH_SHOWING
    return candidate if is_worth else msgspec.structs.replace(candidate, status=CandidateStatus.SKIPPED)


async def opinions(
    model: BudgetedModel, looked: Sequence[InspectedSite], profile: SearchProfile
) -> dict[int, Opinion] | NoAnswer:
    """What the model thinks of these pages, by their place in the list; garbage is no opinion."""
    shown = [(number, one) for number, one in enumerate(looked) if one.text]
    if not shown:
        return {}
    lines = "\n".join(
        msgspec.json.encode({"id": number, "title": one.candidate.title, "text": one.text}).decode()
        for number, one in shown
    )
    reply, _ = await model.ask(profile.prompt.replace("{pages}", lines), SHAPE)
    return reply if isinstance(reply, NoAnswer) else read_opinions(reply.text, {number for number, _ in shown})


def read_opinions(reply: bytes, asked: set[int]) -> dict[int, Opinion]:
    """The opinions within bounds."""
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


def _sample(raw: RawRecord) -> CandidateSample:
    title, starts, place = (str(raw.fields.get(name, "")) for name in ("title", "starts", "place"))
    return CandidateSample(title[:200], starts[:100], place[:100])
