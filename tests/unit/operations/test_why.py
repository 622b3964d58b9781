from datetime import timedelta

import msgspec
import pytest

from rig.clock import NOON
from tidemill.core.failure import MEANING, Failure
from tidemill.core.health.sources import SourceStanding
from tidemill.core.schedules import format_duration
from tidemill.core.source import Source
from tidemill.core.views import AdapterView, BreakerView, HostView, JobDetail, JobView, SourceDetail, SourceView
from tidemill.operations.mistakes import Mistake, parse_key
from tidemill.operations.why.explanation import Explanation, format_relative
from tidemill.operations.why.sources import why_source
from tidemill.operations.why.work import meaning_in_words, why_job
from tidemill.verticals.events.definition import EVENTS

pytestmark = pytest.mark.shows("X7")

SOURCE = Source(
    id=1, name="jazzclub", vertical="events", base_url="https://jazz.example", adapter_id="events.generic"
)  # fmt: skip
VIEW = SourceView(
    id=1,
    name="jazzclub",
    vertical="events",
    base_url="https://jazz.example",
    adapter_id="events.generic",
    fetcher="http",
    tier="standard",
    city="",
    enabled=True,
    auto_disabled=False,
    circuit_state="CLOSED",
    cooldown_until=None,
    targets=2,
    targets_on=2,
    last_scraped_at=None,
    last_success_at=None,
    reliability=1.0,
    failures=0,
    records=0,
    is_available=True,
    reason="",
    standing=SourceStanding.WELL,
    standing_reason="",
    targets_read=2,
)
DETAIL = SourceDetail(
    view=VIEW,
    source=SOURCE,
    breaker=None,
    adapters=(),
    hosts=(),
    jobs={},
    letters={},
    runs=(),
    due_at=NOON + timedelta(hours=3),
)
OPEN = BreakerView(
    source_id=1,
    source_name="jazzclub",
    state="OPEN",
    failure_count=5,
    success_count=0,
    last_failure_at=NOON,
    cooldown_until=NOON + timedelta(minutes=30),
    consecutive_opens=2,
    total_calls=9,
    total_successes=4,
    total_failures=5,
    total_rejections=1,
    changed_at=NOON,
)
JOB = JobView(
    id=7,
    run_id=3,
    source_id=1,
    source_name="jazzclub",
    target_id=5,
    vertical="events",
    adapter_id="events.generic",
    lane="http",
    host="jazz.example",
    url="https://jazz.example/agenda",
    trigger="SCHEDULED",
    stage="fetch",
    status="ready",
    attempts=0,
    max_attempts=3,
    priority=0,
    due_at=NOON,
    not_before=None,
    leased_by=None,
    leased_at=None,
    page_id=None,
    failure=None,
    error=None,
    created_at=NOON,
    started_at=None,
    completed_at=None,
)


def explained(**changes: object) -> Explanation:
    return why_source(msgspec.structs.replace(DETAIL, **changes), EVENTS, NOON)


def source(**changes: object) -> Source:
    return msgspec.structs.replace(SOURCE, **changes)


def test_a_healthy_source_is_held_back_by_nothing_and_says_when_it_is_due() -> None:
    verdict = explained().verdict
    assert verdict.startswith("nothing holds it back; it is due")
    assert "in 3 h" in verdict


@pytest.mark.parametrize(
    ("changes", "gate"),
    [
        ({"source": source(enabled=False)}, "source on"),
        ({"source": source(auto_disabled=True)}, "drift"),
        ({"source": source(robots_compliant=False)}, "compliance"),
        ({"view": msgspec.structs.replace(VIEW, targets_on=0)}, "targets on"),
        ({"view": msgspec.structs.replace(VIEW, targets=0, targets_on=0)}, "targets on"),
        (
            {
                "adapters": (AdapterView(adapter_id="events.generic", enabled=False),),
                "view": msgspec.structs.replace(VIEW, targets_read=0),
            },
            "adapter on",
        ),
        ({"breaker": OPEN}, "breaker"),
    ],
)
def test_each_gate_that_is_shut_is_the_verdict(changes: dict[str, object], gate: str) -> None:
    assert explained(**changes).verdict.startswith(f"held back by {gate}: ")


def test_the_first_gate_that_is_shut_is_the_verdict() -> None:
    assert "source on" in explained(source=source(enabled=False), breaker=OPEN).verdict


def test_a_breaker_whose_cooldown_is_over_lets_a_probe_through() -> None:
    later = msgspec.structs.replace(OPEN, cooldown_until=NOON)
    assert explained(breaker=later).verdict.startswith("nothing holds it back")


def test_a_host_that_asked_to_be_left_alone_is_shown_but_is_no_fault() -> None:
    host = HostView(
        host="jazz.example",
        interval_ms=2000,
        burst=1,
        parallel=1,
        crawl_delay_ms=5000,
        opens_at=NOON + timedelta(minutes=10),
        served_at=None,
        has_work=True,
    )
    found = next(step for step in explained(hosts=(host,)).steps if step.gate == "host")
    assert "in 10 min" in found.detail
    assert "Crawl-delay 5 s" in found.detail


def test_jobs_of_a_host_that_rests_are_not_being_scraped() -> None:
    """A source was said to be scraped while its host was at rest for another hour."""
    host = HostView(host="jazz.example", interval_ms=0, burst=1, parallel=1, crawl_delay_ms=None,
                    opens_at=NOON + timedelta(minutes=40), served_at=None, has_work=True)  # fmt: skip
    assert "its jobs wait until" in explained(hosts=(host,), jobs={"ready": 7}).verdict
    assert "its host rests" in explained(hosts=(host,), jobs={"ready": 7}).verdict
    open_now = msgspec.structs.replace(host, opens_at=NOON)
    assert "its jobs are ready" in explained(hosts=(open_now,), jobs={"ready": 7}).verdict
    assert "it is being scraped" in explained(hosts=(open_now,), jobs={"ready": 7, "leased": 1}).verdict


@pytest.mark.parametrize("status", ["ready", "waiting", "leased", "done", "refused", "dead", "stale"])
def test_every_state_of_a_job_has_its_own_words(status: str) -> None:
    job = msgspec.structs.replace(JOB, status=status, failure="timeout", error="took too long")
    found = why_job(JobDetail(job=job, reading=None, letter=None), DETAIL, NOON)
    assert found.verdict not in {status, ""}
    assert any(step.gate == "rule" and "retried by itself" in step.detail for step in found.steps)


def test_a_page_on_which_a_job_failed_is_named_as_its_evidence() -> None:
    job = msgspec.structs.replace(JOB, status="dead", failure="page_too_hard", error="too long", page_id=77)
    found = why_job(JobDetail(job=job, reading=None, letter=None), DETAIL, NOON)
    [page] = [step.detail for step in found.steps if step.gate == "page"]
    assert page == "page 77 is kept as evidence; `tidemill view 77` shows it"
    done = msgspec.structs.replace(job, status="done", failure=None)
    assert "page" not in {
        step.gate for step in why_job(JobDetail(job=done, reading=None, letter=None), DETAIL, NOON).steps
    }


@pytest.mark.parametrize("failure", MEANING)
def test_every_failure_can_be_explained(failure: Failure) -> None:
    assert meaning_in_words(MEANING[failure])


@pytest.mark.parametrize(
    ("length", "words"),
    [(5, "5 s"), (119, "119 s"), (120, "2 min"), (7_199, "119 min"), (7_200, "2 h"), (200_000, "2 d")],
)
def test_lengths_of_time_are_told_in_their_largest_unit(length: int, words: str) -> None:
    assert format_duration(timedelta(seconds=length)) == words


def test_a_moment_says_on_which_side_of_now_it_is() -> None:
    assert format_relative(NOON + timedelta(minutes=5), NOON).endswith("(in 5 min)")
    assert format_relative(NOON - timedelta(minutes=5), NOON).endswith("(5 min ago)")


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", "9" * 30])
def test_only_a_number_is_a_key(text: str) -> None:
    with pytest.raises(Mistake, match="named by its number"):
        parse_key("job", text)
