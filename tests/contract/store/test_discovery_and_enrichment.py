"""The books of discovery and enrichment, on both databases."""

from datetime import timedelta

import msgspec
import pytest

from rig.clock import NOON, SettableClock
from rig.mill import Mill, accept, event, harvest
from tidemill.core.audit import AuditEntry
from tidemill.core.discovery.candidates import Candidate, CandidateSample, CandidateStatus
from tidemill.core.discovery.search import SearchResult
from tidemill.core.services.degradation import Service
from tidemill.core.services.enrichment import EnrichmentRequest, Geocoded, ModelAnswer, RequestKind
from tidemill.core.source import Coordinates, Source
from tidemill.store.ledger.ledger import Ledger
from tidemill.store.schema import enrichment_wants, record_history, runs, targets
from tidemill.store.services.answers import AnswerRepository, StoredHints
from tidemill.store.services.enrichment_requests import EnrichmentRequestRepository, note_wants
from tidemill.store.sources.candidates import CandidateRepository
from tidemill.store.sources.places import PlaceRepository, SearchRepository
from tidemill.verticals.events.definition import EVENTS
from tidemill.verticals.events.enrichment import ENRICHMENT_RULES
from tidemill.verticals.events.record import Category, Precision
from tidemill.verticals.events.store.enrichment import EventEnrichment
from tidemill.verticals.events.store.repository import EventRepository
from tidemill.verticals.events.store.tables import events

LATER = NOON + timedelta(days=1)
LUXOR = Coordinates(51.9836, 5.9051)


def candidate(number: int, **fields):
    url = f"https://site{number}.test/agenda"
    usual = {"url": url, "canonical_url": url, "place": "Arnhem", "found_at": NOON, "confidence": 0.8,
             "reasons": ("good \x00 events",), "samples": (CandidateSample("Kermis", "2026-04-04"),)}  # fmt: skip
    return Candidate(**{**usual, **fields})


@pytest.mark.shows("E5")
async def test_every_municipality_is_there_from_the_first_migration_on(database):
    places = PlaceRepository(database)
    every = await places.every()
    assert len(every) == 342
    assert await places.searched() == {}
    await places.mark_searched("Arnhem", NOON)
    assert await places.searched() == {"Arnhem": NOON}


async def test_a_question_is_known_from_before_it_is_asked_until_it_is_answered(database):
    searches = SearchRepository(database)
    await searches.begin("agenda Arnhem", "Arnhem", NOON)
    assert (await searches.load(["agenda Arnhem", "else"]))["agenda Arnhem"].hits is None
    await searches.finish("agenda Arnhem", "Arnhem", [SearchResult("https://a.test", "A \x00", "s", 1)], NOON, LATER)
    await searches.forget("agenda Arnhem")
    hits = (await searches.load(["agenda Arnhem"]))["agenda Arnhem"].hits
    assert [hit.url for hit in hits or ()] == ["https://a.test"]


async def test_a_question_that_never_left_is_forgotten(database):
    searches = SearchRepository(database)
    await searches.begin("agenda Arnhem", "Arnhem", NOON)
    await searches.forget("agenda Arnhem")
    assert await searches.load(["agenda Arnhem"]) == {}


@pytest.mark.shows("E5")
async def test_a_candidate_is_judged_anew_until_somebody_decides(database, ids):
    book = CandidateRepository(database, ids)
    await book.put([candidate(1), candidate(2)])
    await book.put([candidate(1, confidence=0.9), candidate(1, confidence=0.4)])
    first = next(one for one in await book.every() if "site1" in one.url)
    assert first.confidence == 0.4
    assert first.samples == (CandidateSample("Kermis", "2026-04-04"),)
    decided = msgspec.structs.replace(first, status=CandidateStatus.REJECTED, decided_by="ans")
    assert await book.decide(decided, NOON, [AuditEntry("ans", "candidate.reject", "x")])
    assert not await book.decide(decided, NOON)
    await book.put([candidate(1, confidence=1.0)])
    assert (await book.find(first.id)).confidence == 0.4
    assert [one.url for one in await book.every(status="pending", place="arnhem")] == ["https://site2.test/agenda"]
    assert await book.every(before=min(one.id for one in await book.every())) == []


async def test_sites_that_wait_or_were_decided_on_need_no_look_and_skipped_ones_do(database, ids):
    book = CandidateRepository(database, ids)
    await Mill(database, SettableClock()).source("known", host="known.test")
    await book.put([candidate(1), candidate(2, status=CandidateStatus.SKIPPED)])
    assert await book.taken() == {"site1.test", "known.test"}
    urls = ["https://site2.test/agenda", "https://site3.test/agenda"]
    assert await book.judged(urls, NOON) == {urls[0]}
    assert await book.judged(urls, LATER) == frozenset()


def place_want(name="luxor"):
    return EnrichmentRequest(RequestKind.PLACE, name, {"query": f"{name}, Arnhem"})


def enrichment_of(mill: Mill) -> EventEnrichment:
    return EventEnrichment(mill.database, mill.ids, ENRICHMENT_RULES, {Service.GEOCODER, Service.LLM})


@pytest.fixture
async def mill(database):
    turned = Mill(database, SettableClock())
    repositories = {"events": EventRepository(turned.ids, enrichment_of(turned))}
    turned.ledger = Ledger(database, turned.ids, turned.bodies, repositories, {"events": EVENTS})
    return turned


async def shelved(mill, title="Zomaar iets", venue="Luxor Live"):
    """An event on the repository whose venue and category nobody knows; answers its job's claim."""
    source = await mill.source(city="Arnhem", coordinates=Coordinates(51.98, 5.91))
    await mill.enqueue(source)
    (claimed,) = await mill.claim(await mill.worker())
    bare = msgspec.structs.replace(
        event(title, source, venue=venue), location_precision=Precision.SOURCE, category=Category.COMMUNITY
    )
    accepted = [accept(title, bare)]
    outcome = mill.fetched(claimed)
    await mill.commit((claimed, outcome))
    judged = mill.judged(outcome.produced.page, [], claimed.source)
    judged = msgspec.structs.replace(judged, produced=msgspec.structs.replace(judged.produced, accepted=accepted))
    await mill.commit((claimed, harvest(judged.produced)))
    return claimed


@pytest.mark.shows("N2", "N3")
async def test_what_an_event_lacks_is_noted_in_the_transaction_that_shelves_it(mill):
    claimed = await shelved(mill)
    rows = await mill.rows(enrichment_wants)
    assert [row["kind"] for row in rows] == ["category", "place"]
    assert {row["run_id"] for row in rows} == {claimed.job.run_id}


@pytest.mark.shows("N2", "N3")
async def test_an_answer_is_put_into_every_event_that_waits_for_it(mill):
    await shelved(mill)
    wants, answers = EnrichmentRequestRepository(mill.database), AnswerRepository(mill.database)
    (asked,) = await wants.due([RequestKind.PLACE], NOON, 10)
    assert asked.request.question["query"] == "Luxor Live, Arnhem"
    await answers.save_geocoded(asked.request.key, "Luxor Live", Geocoded(LUXOR, exact=True), LATER)
    assert await enrichment_of(mill).repair(RequestKind.PLACE, [asked.request.key], LATER) == 1
    (row,) = await mill.rows(events)
    assert (row["latitude"], row["updated_at"]) == (LUXOR.latitude, LATER)
    assert [one["kind"] for one in await mill.rows(record_history)] == ["enriched"]
    assert [one["kind"] for one in await mill.rows(enrichment_wants)] == ["category"]
    assert await enrichment_of(mill).repair(RequestKind.PLACE, [asked.request.key], LATER) == 0


async def test_what_is_known_is_put_in_when_the_event_is_shelved(mill):
    answers = AnswerRepository(mill.database)
    bare = msgspec.structs.replace(
        event("Zomaar iets", 1, venue="Luxor Live"), location_precision=Precision.SOURCE, category=Category.COMMUNITY
    )
    source = Source(id=1, name="a", vertical="events", base_url="https://a.test", adapter_id="x", city="Arnhem")
    for want in ENRICHMENT_RULES.requests_for(bare, source):
        if want.kind is RequestKind.PLACE:
            await answers.save_geocoded(want.key, "q", Geocoded(LUXOR, exact=True), NOON)
        else:
            await answers.save_model_answers({(want.kind, want.key): ModelAnswer("music", 0.9)}, "gemini", NOON)
    await shelved(mill)
    (row,) = await mill.rows(events)
    assert (row["latitude"], row["category"]) == (LUXOR.latitude, "music")
    assert await mill.rows(enrichment_wants) == []


async def test_equal_questions_are_due_once_and_put_off_together(mill):
    claimed = await shelved(mill)
    async with mill.database.write() as connection:
        noted = [(claimed.job, subject, place_want()) for subject in (901, 902, 902)]
        await note_wants(connection, mill.database, noted, NOON)
    wants = EnrichmentRequestRepository(mill.database)
    due = await wants.due([RequestKind.PLACE], NOON, 10)
    assert sorted(asked.request.key for asked in due if asked.request.key == "luxor") == ["luxor"]
    assert len(await wants.due([RequestKind.PLACE], NOON, 1)) == 1
    await wants.postpone([(RequestKind.PLACE, "luxor")], LATER)
    assert "luxor" not in [asked.request.key for asked in await wants.due([RequestKind.PLACE], NOON, 10)]
    assert next(one for one in await wants.due([RequestKind.PLACE], LATER, 10) if one.request.key == "luxor").tries == 1
    assert [(one.kind, one.waiting) for one in await wants.standing()] == [("category", 1), ("place", 3)]


async def test_runs_whose_records_wait_for_a_service_that_failed_are_marked_once(mill):
    await shelved(mill)
    wants = EnrichmentRequestRepository(mill.database)
    assert await wants.mark_degraded_runs(Service.GEOCODER, [RequestKind.PLACE]) == 1
    assert await wants.mark_degraded_runs(Service.GEOCODER, [RequestKind.PLACE]) == 0
    assert await wants.mark_degraded_runs(Service.LLM, [RequestKind.CATEGORY]) == 1
    assert [row["degraded"] for row in await mill.rows(runs)] == [["geocoder", "llm"]]


async def test_the_page_of_a_lost_record_counts_as_new_once_an_answer_can_save_it(mill):
    claimed = await shelved(mill)
    target = claimed.job.target_id
    async with mill.database.write() as connection:
        await connection.execute(targets.update().values(good_digest=7, etag='"x"'))
        lost = [
            (claimed.job, target, EnrichmentRequest(RequestKind.DATE, key, {"title": "t", "text": key}))
            for key in ("a", "b")
        ]
        await note_wants(connection, mill.database, lost, NOON)
    wants = EnrichmentRequestRepository(mill.database)
    await wants.abandon(["b"])
    assert await wants.answered_targets(["a"], LATER) == [target]
    assert await wants.answered_targets([], LATER) == []
    (row,) = await mill.rows(targets)
    assert (row["good_digest"], row["etag"]) == (None, "")
    assert await wants.due([RequestKind.DATE], LATER, 10) == []


async def test_a_day_that_the_database_knows_comes_to_mind(database):
    answers = AnswerRepository(database)
    hints = StoredHints(answers)
    await answers.save_model_answers({(RequestKind.DATE, "a"): ModelAnswer("2026-04-04", 0.9)}, "gemini", NOON)
    assert hints.get("a") is None
    assert await hints.load(["a", "b"])
    assert hints.get("a") == ModelAnswer("2026-04-04", 0.9)
    assert not await hints.load(["a", "b"])


@pytest.mark.shows("N3")
async def test_a_place_nobody_has_heard_of_is_remembered_as_such(database):
    answers = AnswerRepository(database)
    await answers.save_geocoded("nowhere", "Nergens", Geocoded(None), NOON)
    key = (RequestKind.PLACE, "nowhere")
    assert await answers.load([key, (RequestKind.CATEGORY, "x")]) == {key: Geocoded(None)}
