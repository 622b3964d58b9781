from typing import get_args

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families as parsed

from rig.clock import NOON
from tidemill.core.failure import Failure
from tidemill.pipeline.happenings import Happening
from tidemill.telemetry.counters import OTHER, HistogramCounter, LabelledCounter
from tidemill.telemetry.gauges import Snapshot, SourceGauges
from tidemill.telemetry.metrics import Metrics
from unit.telemetry import announced

pytestmark = pytest.mark.shows("H6")

STAND = SourceGauges(
    id=7, name="Town", vertical="events", adapter_id="townhall", available=False, breaker="OPEN", targets=4,
    targets_active=3, targets_broken=1, records=20, last_success_at=NOON,
)  # fmt: skip


def samples(metrics: Metrics, snapshot: Snapshot | None = None) -> dict[tuple[str, ...], float]:
    """Every sample by its name and label values, the labels in alphabetical order."""
    return {
        (sample.name, *(sample.labels[label] for label in sorted(sample.labels))): sample.value
        for family in parsed(metrics.render(snapshot).decode())
        for sample in family.samples
    }


def counted(*happenings: Happening) -> dict[tuple[str, ...], float]:
    metrics = Metrics(process=False)
    for happening in happenings:
        metrics.count(happening)
    return samples(metrics)


def test_every_kind_of_happening_is_counted() -> None:
    metrics = Metrics(process=False)
    assert set(metrics._handlers) == set(get_args(Happening))
    before = metrics.render(None)
    for happening in announced.EVERY_KIND:
        metrics.count(happening)
        assert metrics.render(None) != before, happening
        before = metrics.render(None)


@pytest.mark.inventory(113, 114, 118, 120, 122)
def test_a_page_counts_as_attempt_answer_bytes_and_time() -> None:
    found = counted(announced.PAGE_GOT, announced.PAGE_UNCHANGED)
    assert found["scrape_urls_attempted_total", "townhall", "7", "ok"] == 1
    assert found["scrape_urls_attempted_total", "townhall", "7", "unchanged"] == 1
    assert found["scraper_scrapes_total", "town.example", "success"] == 2
    assert found["scrape_responses_total", "2xx"] == 1
    assert found["scrape_response_bytes_total",] == 30_000
    assert found["scrape_fetch_duration_ms_count", "townhall"] == 2
    assert found["scrape_fetch_duration_ms_sum", "townhall"] == 160
    assert found["scrape_fetch_duration_ms_bucket", "townhall", "50"] == 1
    assert found["scrape_fetch_duration_seconds_sum", "townhall"] == 0.16
    assert found["scrape_fetch_duration_seconds_bucket", "townhall", "0.05"] == 1
    assert found["scrape_rate_limit_wait_ms_sum", "town.example"] == 800
    assert found["scrape_rate_limit_wait_seconds_sum", "town.example"] == 0.8
    assert found["scraper_scrape_duration_seconds_bucket", "town.example", "0.3"] == 2


def test_a_job_succeeds_when_it_is_on_the_shelf_or_unchanged() -> None:
    found = counted(announced.PAGE_GOT, announced.STAGE_DONE, announced.PAGE_UNCHANGED, announced.UNCHANGED_DONE)
    assert found["scrape_urls_succeeded_total", "townhall", "7"] == 2


def test_waiting_for_politeness_is_no_failure() -> None:
    found = counted(announced.SNOOZED)
    assert found["scrape_snoozes_total", "fetch"] == 1
    assert not [name for name in found if name[0] in {"scrape_urls_attempted_total", "scrape_retries_total"}]


@pytest.mark.inventory(114)
def test_a_failed_try_is_a_retry_and_a_dead_letter_a_failure() -> None:
    found = counted(announced.RETRIED, announced.DEAD)
    assert found["scrape_retries_total", "timeout", "fetch"] == 1
    assert found["scraper_scrapes_total", "town.example", "failure"] == 1
    assert found["scrape_urls_failed_total", "townhall", "layout_changed", "7"] == 1


@pytest.mark.inventory(119)
def test_every_record_read_is_counted_once() -> None:
    found = counted(announced.JUDGED, announced.KEPT)
    read = found["scrape_offers_extracted_total", "townhall", "7"]
    parts = ("scrape_offers_valid_total", "scrape_offers_dropped_total", "scrape_offers_quarantined_total")
    assert read == sum(value for name, value in found.items() if name[0] in parts) == 21
    assert found["scrape_offers_dropped_total", "townhall", "NO_DATE", "7"] == 1
    assert found["scrape_offers_dropped_total", "townhall", "repeated_in_run", "7"] == 1
    assert found["scrape_offers_quarantined_total", "townhall", "UNSURE", "7"] == 3
    assert found["scrape_offers_quarantined_total", "townhall", "held_back", "7"] == 2
    changes = [found["scrape_records_total", change, "events"] for change in ("inserted", "updated", "unchanged")]
    assert changes == [5, 4, 3]


def test_gauges_show_the_snapshot_and_nothing_without_one() -> None:
    snapshot = Snapshot(
        at=NOON, jobs={"ready": 4}, breakers={"OPEN": 1}, pending={"townhall": 4}, adapters={"townhall": True},
        sources=[STAND], workers=2, ticks_overdue=1, tick_success={"dispatch": NOON},
    )  # fmt: skip
    metrics = Metrics(process=False)
    found = samples(metrics, snapshot)
    assert found["scraper_jobs", "ready"] == 4
    assert found["scraper_circuit_breakers", "OPEN"] == 1
    assert found["scraper_circuit_breakers", "CLOSED"] == 0
    assert found["scrape_queue_pending", "townhall"] == 4
    assert found["scrape_source_available", "townhall", "7"] == 0
    assert found["scrape_targets_active", "townhall", "7"] == 3
    assert found["scrape_targets_broken", "townhall", "7"] == 1
    assert found["scraper_tick_age_seconds", "dispatch"] == 0
    assert ("scraper_jobs", "ready") not in samples(metrics, None)


def test_a_flood_of_hosts_ends_in_one_series() -> None:
    counter = LabelledCounter("visits", "Visits.", ("domain",), max_series=3)
    histogram = HistogramCounter("took", "Took.", (1,), "host", max_series=3)
    for number in range(100):
        counter.add((f"host{number}",))
        histogram.add(0.5, f"host{number}")
    assert len(counter._counts) == 4
    assert counter.count(OTHER) == 97
    assert len(histogram._cells) == 4


def test_what_is_above_every_bound_is_still_counted() -> None:
    histogram = HistogramCounter("took", "Took.", (1, 2))
    for amount in (0.5, 1, 1.5, 2, 99):
        histogram.add(amount)
    (family,) = histogram.collect()
    assert [sample.value for sample in family.samples] == [2, 4, 5, 5, 104]


def test_a_hostile_source_name_does_not_break_the_format() -> None:
    nasty = replace(STAND, name='a"} 1\nforged_total 9\\')
    families = list(parsed(Metrics(process=False).render(Snapshot(at=NOON, sources=[nasty])).decode()))
    assert "forged" not in {family.name for family in families}


@pytest.mark.inventory(121)
def test_reading_a_page_is_timed_by_adapter_in_both_units() -> None:
    found = counted(announced.PARSED)
    assert found["scrape_extract_duration_ms_bucket", "townhall", "10"] == 1
    assert found["scrape_extract_duration_seconds_sum", "townhall"] == 0.007


def test_a_poll_of_the_live_lane_counts_as_a_try_of_its_adapter() -> None:
    found = counted(announced.POLLED, replace(announced.POLLED, failure=Failure.TIMED_OUT))
    assert found["scrape_urls_attempted_total", "arena", "7", "ok"] == 1
    assert found["scrape_urls_succeeded_total", "arena", "7"] == 1
    assert found["scrape_urls_failed_total", "arena", "timeout", "7"] == 1


def test_a_reason_that_is_scraped_text_is_no_label() -> None:
    rude = (("dropped", "Buy now at https://shop.example/?token=hunter2", 2), ("dropped", "x" * 61, 1))
    found = counted(replace(announced.JUDGED, reasons=rude))
    assert found["scrape_offers_dropped_total", "townhall", "other", "7"] == 3


def test_many_sources_are_added_up_by_adapter() -> None:
    sources = [replace(STAND, id=number) for number in range(1, 101)]
    metrics = Metrics(process=False, most_sources=10)
    for number in range(1, 101):
        metrics.count(replace(announced.DEAD, source_id=number))
    found = samples(metrics, Snapshot(at=NOON, sources=sources))
    assert len([name for name in found if name[0] == "scrape_source_info"]) == 10
    assert found["scrape_targets_active", "townhall", "other"] == 270
    assert sum(value for name, value in found.items() if name[0] == "scrape_source_records") == 2000
    assert found["scrape_sources", "unavailable", "events"] == 100
    failed = {name: value for name, value in found.items() if name[0] == "scrape_urls_failed_total"}
    assert sum(failed.values()) == 100
    assert failed["scrape_urls_failed_total", "townhall", "layout_changed", "other"] == 90


@pytest.mark.inventory(123)
def test_jobs_that_are_ready_or_given_up_are_gauges() -> None:
    found = samples(Metrics(process=False), Snapshot(at=NOON, jobs={"stale": 3}, ready={"http": 8}))
    assert found["scrape_targets_stale",] == 3
    assert found["tidemill_ready_jobs", "http"] == 8
