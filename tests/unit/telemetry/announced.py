"""One happening of every kind, as the engine announces them."""

from datetime import timedelta

from rig.clock import NOON
from tidemill.core.failure import Failure
from tidemill.core.outcome import Stage
from tidemill.core.run import Counts, RunStatus, RunSummary
from tidemill.core.services.degradation import Service
from tidemill.pipeline.happenings import (
    BreakerMoved,
    ChangeLogged,
    ClockJumped,
    DiscoverySpilled,
    EnqueueRejected,
    Happening,
    JobDead,
    JobRefused,
    JobsRescued,
    JobsStale,
    JobWaits,
    LeaseLost,
    LifeMoved,
    Overdue,
    PageGot,
    PagePolled,
    PersonNeeded,
    PlaceSearched,
    RecordsJudged,
    RecordsKept,
    RunClosed,
    RunExtended,
    RunOpened,
    ServiceDegraded,
    ServiceRestored,
    StageDone,
    StoreTrouble,
    TickRan,
    WatchLost,
)

LATER = NOON + timedelta(minutes=5)
HOST = "town.example"

ADAPTER = "townhall"
STAGE_DONE = StageDone(NOON, 11, 3, 7, Stage.PERSIST, ends=True, adapter_id=ADAPTER)
PARSED = StageDone(NOON, 11, 3, 7, Stage.PARSE, adapter_id=ADAPTER, milliseconds=7)
UNCHANGED_DONE = StageDone(NOON, 12, 3, 7, Stage.FETCH, ends=True, adapter_id=ADAPTER)
REASONS = (("dropped", "NO_DATE", 1), ("quarantined", "UNSURE", 3))
JUDGED = RecordsJudged(NOON, 11, 3, 7, "events", 17, 1, 3, ADAPTER, REASONS)
STALE = JobsStale(NOON, 7, 2, ADAPTER)
PAGE_GOT = PageGot(NOON, 11, 3, 7, HOST, 200, 30_000, 120, unchanged=False, adapter_id=ADAPTER, waited_ms=800)
PAGE_UNCHANGED = PageGot(NOON, 12, 3, 7, HOST, 304, 0, 40, unchanged=True, adapter_id=ADAPTER)
SNOOZED = JobWaits(NOON, 11, 3, 7, HOST, Stage.FETCH, LATER, "the source's breaker is open", None, ADAPTER)
RETRIED = JobWaits(NOON, 11, 3, 7, HOST, Stage.FETCH, LATER, "no answer in 30 s", Failure.TIMED_OUT, ADAPTER)
REFUSED = JobRefused(NOON, 11, 3, 7, HOST, Failure.ROBOTS_DISALLOWED, "/private", ADAPTER)
DEAD = JobDead(NOON, 11, 3, 7, HOST, Stage.PARSE, Failure.LAYOUT_CHANGED, "neither events nor a notice", ADAPTER)
NEEDED = PersonNeeded(NOON, 11, 3, 7, HOST, Failure.TLS_FAILED, "the certificate has expired", ADAPTER)
LOST = LeaseLost(NOON, 11, 3, 7, Stage.PARSE)
OPENED_BREAKER = BreakerMoved(NOON, 7, "CLOSED", "OPEN", LATER)
CLOSED_BREAKER = BreakerMoved(NOON, 7, "HALF_OPEN", "CLOSED", None)
KEPT = RecordsKept(NOON, 11, 3, 7, "events", 5, 4, 3, 2, 1, 2, ADAPTER)
RUN_EXTENDED = RunExtended(NOON, 3, 7, "SCHEDULED", 4)
RUN_OPENED = RunOpened(NOON, 3, 7, "SCHEDULED", 4, "jazz")
SUMMARY = RunSummary(
    run_id=3,
    source_id=7,
    source_name="Town",
    vertical="events",
    trigger="SCHEDULED",
    status=RunStatus.SUCCESS,
    started_at=NOON - timedelta(seconds=2),
    completed_at=NOON,
    counts=Counts(urls_attempted=4, urls_succeeded=4, records_inserted=5),
    complete=False,
    doubts=("a page was truncated",),
    removed=2,
)
RUN_CLOSED = RunClosed(NOON, SUMMARY)
REJECTED = EnqueueRejected(NOON, "queue full", 12, 300)
TICKED = TickRan(NOON, "dispatch", NOON, "ok", "4 jobs in 1 runs, 0 turned away")
TICK_FAILED = TickRan(NOON, "dispatch", NOON, "failed", "Traceback")
RESCUED = JobsRescued(NOON, 2, 9, "its worker died")
TROUBLE = StoreTrouble(NOON, "the disk is full; make room, and the work goes on where it stopped")
JUMPED = ClockJumped(NOON, -3_600.0, "the clock stands before what is on record")
DEGRADED = ServiceDegraded(NOON, Service.APIFY, "answered 503", "its jobs wait")
RESTORED = ServiceRestored(LATER, Service.APIFY, NOON)
SEARCHED = PlaceSearched(NOON, "Arnhem", 9, 2, "")
SPILLED = DiscoverySpilled(NOON, "discovered-2026-03-02.jsonl", "the database does not answer")
OVERDUE = Overdue(NOON, "tick dispatch", "last went well 09:00 UTC")
POLLED = PagePolled(NOON, 11, 3, 7, "arena.test", 200, 42, changed=True, adapter_id="arena")
LOGGED = ChangeLogged(NOON, "tallies", "a", 7, "delta", "arena", 0.3)
MOVED = LifeMoved(NOON, "tallies", "a", "ACTIVE", "PAUSED", "5 failures in a row")
GIVEN_UP = WatchLost(NOON, 11, 3, 7, "another process holds its watch")

EVERY_KIND: list[Happening] = [
    STAGE_DONE, PAGE_GOT, RETRIED, REFUSED, DEAD, NEEDED, LOST, OPENED_BREAKER, JUDGED, KEPT,
    RUN_OPENED, RUN_EXTENDED, RUN_CLOSED, REJECTED,
    TICKED, RESCUED, STALE, TROUBLE, JUMPED, OVERDUE, DEGRADED, RESTORED, SEARCHED, SPILLED,
    POLLED, LOGGED, MOVED, GIVEN_UP,
]  # fmt: skip
