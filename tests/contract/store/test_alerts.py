"""Every alert fires from its cause, once, within its delay, and recovers; messages go out once and in order."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import delete, update

from rig.clock import SettableClock
from rig.engines import until
from rig.rows import a_job, a_run, a_source, a_target, put
from rig.watched import MINUTE, Watched, a_watched
from tidemill.alerts.checks import DiskSpace, full_disks
from tidemill.alerts.ports import AlertCheck, ChannelAnswer
from tidemill.core.admission import Backoff
from tidemill.core.alerts.incidents import DRIFT_ALERTS
from tidemill.core.alerts.messages import AlertNotice
from tidemill.core.alerts.outgoing import MAY_HAVE_COME, OutgoingNotice
from tidemill.core.alerts.table import ALERTS, AlertName, Severity
from tidemill.core.health.grades import Grading, HealthGrade
from tidemill.core.quality.drift import DriftRule
from tidemill.core.run import Counts
from tidemill.core.services.degradation import Service, ServiceState
from tidemill.lab.standins.talk import StandinFault
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.happenings import DiskLow, IncidentEnded, IncidentOpened
from tidemill.store.alerts.outbox import AlertOutbox
from tidemill.store.alerts.signals import SignalReader
from tidemill.store.database.database import Database, open_database
from tidemill.store.quality.drift import Watched as WatchedRun
from tidemill.store.quality.drift import alert_columns, watch_runs
from tidemill.store.schema import (
    adapter_status,
    breakers,
    dead_letters,
    incidents,
    jobs,
    runs,
    sources,
    targets,
    tick_slots,
    workers,
)

pytestmark = pytest.mark.shows("H7")

OBJECTIVES = {AlertName.OBJECTIVE_FAST_BURN, AlertName.OBJECTIVE_BURN, AlertName.OBJECTIVE_SLOW_BURN}
"""Freshness objectives have tests of their own."""


@pytest.fixture
async def watched(database: Database, clock: SettableClock) -> AsyncIterator[Watched]:
    async with a_watched(database, clock) as system:
        yield system


async def write(watched: Watched, statement: Any, values: Any = None) -> None:
    async with watched.system.store.database.write() as connection:
        await connection.execute(statement, values) if values else await connection.execute(statement)


def letter(key: int, clock: SettableClock, **other: Any) -> dict[str, Any]:
    row = {"id": key, "job_id": key, "source_id": 1, "target_id": 1, "stage": "fetch", "error_type": "timed_out"}
    row |= {"error_message": "no", "payload": {}, "created_at": clock.now(), "updated_at": clock.now()}
    return row | other


def breaker(key: int, clock: SettableClock) -> dict[str, Any]:
    return {"source_id": key, "state": "OPEN", "failure_count": 5, "changed_at": clock.now()}


async def sources_of_one_host(watched: Watched, count: int) -> None:
    await put(watched.system.store.database, sources, *(a_source(key) for key in range(1, count + 1)))


Cause = Callable[[Watched], Awaitable[Any]]


async def adapter_off(watched: Watched) -> None:
    row = {
        "adapter_id": "events.generic",
        "enabled": False,
        "disabled_reason": "DRIFT_DETECTED: bad",
        "updated_at": watched.clock.now(),
    }
    await put(watched.system.store.database, adapter_status, row)


async def adapter_on(watched: Watched) -> None:
    await write(watched, update(adapter_status).values(enabled=True))


async def queue_full(watched: Watched) -> None:
    until = watched.clock.now() + timedelta(hours=3)
    await watched.system.store.agenda.set_backoffs({"events.generic": Backoff(until, 3)}, watched.clock.now())


async def queue_free(watched: Watched) -> None:
    await watched.system.store.agenda.set_backoffs({}, watched.clock.now())


async def stale_jobs(watched: Watched) -> None:
    rows = [a_job(key, status="stale", completed_at=watched.clock.now()) for key in range(1, 102)]
    await put(watched.system.store.database, jobs, *rows)


async def no_stale_jobs(watched: Watched) -> None:
    await write(watched, delete(jobs))


async def breaker_opens(watched: Watched) -> None:
    await sources_of_one_host(watched, 3)
    await put(watched.system.store.database, breakers, breaker(1, watched.clock))


async def breakers_open(watched: Watched) -> None:
    await sources_of_one_host(watched, 3)
    await put(watched.system.store.database, breakers, breaker(1, watched.clock), breaker(2, watched.clock))


async def breakers_close(watched: Watched) -> None:
    await write(watched, update(breakers).values(state="CLOSED"))


async def many_letters(watched: Watched) -> None:
    await put(watched.system.store.database, dead_letters, *(letter(key, watched.clock) for key in range(1, 52)))


async def no_letters(watched: Watched) -> None:
    await write(watched, update(dead_letters).values(status="discarded"))


async def nothing_for_a_day(watched: Watched) -> None:
    day_ago = watched.clock.now() - timedelta(days=3)
    await put(watched.system.store.database, sources, a_source(created_at=day_ago, historical_count=5))
    now = watched.clock.now()
    await put(watched.system.store.database, runs, a_run(started_at=now, completed_at=now, urls_succeeded=3))


async def something_again(watched: Watched) -> None:
    now = watched.clock.now()
    row = a_run(2, started_at=now, completed_at=now, urls_succeeded=3, records_accepted=4)
    await put(watched.system.store.database, runs, row)


def spent(service: Service, words: str) -> Cause:
    async def spend(watched: Watched) -> None:
        await watched.system.services.degraded(service, words)

    return spend


def works(service: Service) -> Cause:
    async def restore(watched: Watched) -> None:
        await watched.system.services.works(service)

    return restore


async def name_fails(watched: Watched) -> None:
    await put(watched.system.store.database, sources, a_source())
    await put(watched.system.store.database, targets, a_target())
    row = letter(1, watched.clock, error_type="dns_failed", error_message="no such name")
    await put(watched.system.store.database, dead_letters, row)


def spill_file(watched: Watched) -> Path:
    folder = watched.system.settings.discovery_folder
    assert folder is not None
    return folder / "discovered-2026-03-02.jsonl"


async def spills(watched: Watched) -> None:
    spill_file(watched).write_text("{}")


async def imported(watched: Watched) -> None:
    spill_file(watched).unlink()


async def grade(watched: Watched, of: HealthGrade, **other: Any) -> None:
    grading = Grading(grade=of, since=watched.clock.now(), **other)
    await watched.system.store.live_health.keep_grading(grading, watched.clock.now())


async def tick_dies(watched: Watched) -> None:
    long_ago = watched.clock.now() - timedelta(days=60)
    row = {"name": "dispatch", "slot": long_ago, "worker_id": 1, "started_at": long_ago, "status": "running"}
    await put(watched.system.store.database, tick_slots, row)


async def ticks_are_done(watched: Watched) -> None:
    now = watched.clock.now() + timedelta(hours=2)  # nobody does them in this test, and they must not be late again
    rows = [
        {"name": name, "slot": now, "worker_id": 1, "started_at": now, "finished_at": now, "status": "ok"}
        for name in watched.system.ticks.chores
    ]
    await put(watched.system.store.database, tick_slots, *rows)


async def clock_is_off(watched: Watched) -> None:
    now = watched.clock.now()
    row = {"id": 1, "name": "other machine", "pid": 1, "started_at": now, "seen_at": now + timedelta(hours=1)}
    await put(watched.system.store.database, workers, row)


async def clock_is_set(watched: Watched) -> None:
    await write(watched, update(workers).values(seen_at=watched.clock.now()))


async def check_breaks(watched: Watched) -> None:
    async def broken(_now: Any) -> list[Any]:
        msg = "no such column"
        raise ValueError(msg)

    swap_check(watched, AlertCheck("breakers", (AlertName.BREAKER_OPEN,), broken))


async def check_works(watched: Watched) -> None:
    async def nothing(_now: Any) -> list[Any]:
        return []

    swap_check(watched, AlertCheck("breakers", (AlertName.BREAKER_OPEN,), nothing))


def swap_check(watched: Watched, check: AlertCheck) -> None:
    found = watched.system.alerts.evaluation.checks
    assert isinstance(found, list)
    place = [each.name for each in found].index(check.name)
    found[place] = check


def disk(total: int, free: int) -> Cause:
    async def measured(watched: Watched) -> None:
        find = full_disks([Path("/data")], lambda _: DiskSpace(total, free), watched.heard.append)
        swap_check(watched, AlertCheck("disks", (AlertName.DISK_FULL, AlertName.DISK_LOW), find))

    return measured


async def market_is_late(watched: Watched) -> None:
    async def late(_now: Any) -> list[Any]:
        return await find_late()

    parts = watched.system.parts["listings"]
    assert parts.overdue_scopes is not None
    find_late = lateness("market amsterdam")
    swap_check(watched, AlertCheck("lists", (AlertName.SCOPE_OVERDUE,), late))


def lateness(name: str) -> Callable[[], Awaitable[list[Any]]]:
    from rig.clock import NOON  # noqa: PLC0415 - only here
    from tidemill.alerts.checks import overdue_scopes  # noqa: PLC0415 - only here

    async def scopes() -> list[tuple[str, str]]:
        return [(name, "was not scraped for 9 h")]

    async def find() -> list[Any]:
        return list(await overdue_scopes([scopes])(NOON))

    return find


async def markets_are_read(watched: Watched) -> None:
    async def nothing(_now: Any) -> list[Any]:
        return []

    swap_check(watched, AlertCheck("lists", (AlertName.SCOPE_OVERDUE,), nothing))


async def watchdog_gives_up(watched: Watched) -> None:
    await grade(watched, HealthGrade.FAILING, person_called_at=watched.clock.now())


CAUSES: dict[AlertName, tuple[Cause, Cause]] = {
    AlertName.ADAPTER_DISABLED: (adapter_off, adapter_on),
    AlertName.QUEUE_REJECTIONS: (queue_full, queue_free),
    AlertName.LONG_BACKOFF: (queue_full, queue_free),
    AlertName.TARGETS_STALE: (stale_jobs, no_stale_jobs),
    AlertName.BREAKER_OPEN: (breaker_opens, breakers_close),
    AlertName.BREAKERS_OPEN: (breakers_open, breakers_close),
    AlertName.DEAD_LETTERS: (many_letters, no_letters),
    AlertName.NO_RECORDS: (nothing_for_a_day, something_again),
    AlertName.LLM_BUDGET: (
        spent(Service.LLM, "the budget of the day is used up until 2026-03-03 00:00 UTC"), works(Service.LLM),
    ),
    AlertName.SCRAPINGBEE_BUDGET: (
        spent(Service.SCRAPINGBEE, "all 1000 credits at scrapingbee are used up"), works(Service.SCRAPINGBEE),
    ),
    AlertName.DNS_OR_TLS: (name_fails, no_letters),
    AlertName.DISCOVERY_SPILLED: (spills, imported),
    AlertName.DISK_FULL: (disk(1_000_000_000_000, 50_000_000), disk(1_000_000_000_000, 500_000_000_000)),
    AlertName.DISK_LOW: (disk(10_000_000_000, 900_000_000), disk(10_000_000_000, 5_000_000_000)),
    AlertName.SCOPE_OVERDUE: (market_is_late, markets_are_read),
    AlertName.TICK_SILENT: (tick_dies, ticks_are_done),
    AlertName.CLOCK_SKEW: (clock_is_off, clock_is_set),
    AlertName.GRADE_FAILING: (
        lambda watched: grade(watched, HealthGrade.FAILING), lambda watched: grade(watched, HealthGrade.HEALTHY),
    ),
    AlertName.GRADE_DEGRADED: (
        lambda watched: grade(watched, HealthGrade.DEGRADED), lambda watched: grade(watched, HealthGrade.HEALTHY),
    ),
    AlertName.RECOVERY_LOOP: (watchdog_gives_up, lambda watched: grade(watched, HealthGrade.HEALTHY)),
    AlertName.CHECK_FAILED: (check_breaks, check_works),
}  # fmt: skip
"""What makes each alert fire, and what ends it."""


@pytest.mark.inventory(124, 127)
@pytest.mark.parametrize("alert", CAUSES)
async def test_an_alert_fires_once_within_its_delay_and_recovers(
    alert: AlertName, database: Database, clock: SettableClock, tmp_path: Path
) -> None:
    begin, end = CAUSES[alert]
    async with a_watched(database, clock, discovery_folder=tmp_path) as watched:
        await watched.minutes(1)
        assert await watched.open() == []
        await begin(watched)
        delay = ALERTS[alert].delay
        await watched.minutes(delay // MINUTE)
        assert alert not in await watched.open()
        await watched.minutes(1)
        assert alert in await watched.open()
        assert sum(row["alert"] == alert for row in await watched.all_rows()) == 1
        await watched.minutes(10)
        mine = next(f"Incident {row['id']}," for row in await watched.all_rows() if row["alert"] == alert)
        told = [words for words in watched.slack.texts if mine in words]
        if ALERTS[alert].severity is not Severity.P1 and _has_p1(await watched.all_rows(), alert):
            assert told == []
            return
        assert len(told) == 1
        await end(watched)
        await watched.minutes(12)
        assert alert not in await watched.open()
        assert any(title.startswith("Recovered: ") for title in watched.slack.titles)
        assert {IncidentOpened, IncidentEnded} <= {type(each) for each in watched.heard}


def _has_p1(rows: Any, alert: AlertName) -> bool:
    cause = next(row["cause"] for row in rows if row["alert"] == alert)
    return any(row["severity"] == "P1" and row["cause"] == cause and row["closed_at"] is None for row in rows)


@pytest.mark.parametrize("alert", [each for each in CAUSES if each is not AlertName.CHECK_FAILED])
async def test_without_its_check_an_alert_is_silent_whatever_happens(
    alert: AlertName, migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    """The walk over the wiring: take one check out, and the cause of each of its alerts is not told of any more."""
    begin, _ = CAUSES[alert]
    database = open_database(migrated_sqlite_url)
    async with a_watched(database, clock, discovery_folder=tmp_path) as watched:
        await begin(watched)
        checks = watched.system.alerts.evaluation.checks
        assert isinstance(checks, list)
        wired = [check for check in checks if alert in check.alerts]
        assert len(wired) == 1
        checks.remove(wired[0])
        await watched.minutes(ALERTS[alert].delay // MINUTE + 2)
        assert alert not in await watched.open()
        checks.append(wired[0])
        await watched.minutes(ALERTS[alert].delay // MINUTE + 2)
        assert alert in await watched.open()


@pytest.mark.shows("O4")
def test_every_alert_of_the_table_has_a_cause_here_or_is_drift() -> None:
    assert set(CAUSES) | set(DRIFT_ALERTS.values()) | OBJECTIVES == set(AlertName)


async def test_every_alert_that_is_no_drift_is_wired_to_a_check(watched: Watched) -> None:
    checked = {alert for check in watched.system.alerts.evaluation.checks for alert in check.alerts}
    assert checked >= set(CAUSES) - {AlertName.CHECK_FAILED}


DRIFTING: dict[DriftRule, tuple[Counts, str | None]] = {
    DriftRule.FAILURES: (Counts(urls_attempted=20, urls_succeeded=5, urls_failed=15, records_accepted=5), None),
    DriftRule.ALARMING: (
        Counts(urls_attempted=20, urls_succeeded=20, records_accepted=20, records_quarantined=1, zero_price_count=1),
        None,
    ),
    DriftRule.SHORT_LIST: (Counts(urls_attempted=1, urls_succeeded=1, records_accepted=3), "3 of 300"),
}


@pytest.mark.parametrize("rule", DRIFTING)
async def test_drift_at_the_end_of_a_run_is_an_incident_of_the_same_list(rule: DriftRule, watched: Watched) -> None:
    database, now = watched.system.store.database, watched.clock.now()
    await put(database, sources, a_source())
    counts, short = DRIFTING[rule]
    row = a_run(1, scope="market" if short else "", source_name="source 1", field_counts=None, started_at=now)
    await put(database, runs, {name: value for name, value in row.items() if name != "source_name"})
    await watched.system.store.ids.reserve(300)
    async with database.write() as connection:
        await watch_runs(connection, watched.system.store.ids, [WatchedRun(row, counts, short)], now, {})
    await watched.minutes(1)
    alert = DRIFT_ALERTS[rule]
    assert await watched.open() == [alert]
    assert [alert.replace("_", " ") in title for title in watched.slack.titles] == [True]
    await watched.system.actions.sources.disable("source 1", "ann")
    await watched.system.actions.sources.enable("source 1", "ann")
    await watched.minutes(7)
    if not await watched.open():
        assert watched.slack.titles[-1].startswith("Recovered: ")


@pytest.mark.parametrize(
    "rule", [DriftRule.WORSE_THAN_USUAL, DriftRule.SELECTORS, DriftRule.FIELD_SHARE, DriftRule.NO_RECORDS]
)
async def test_whatever_rule_of_drift_opened_it_people_are_told_and_told_of_its_end(
    rule: DriftRule, watched: Watched
) -> None:
    now = watched.clock.now()
    row = {"id": 9, **alert_columns(rule, "events.generic", "events", "source 1"), "adapter_id": "events.generic"}
    row |= {"source_id": 1, "rule": rule, "detail": "off", "run_id": 1, "opened_at": now, "last_seen_at": now}
    await put(watched.system.store.database, incidents, row)
    await watched.minutes(6)
    assert len(watched.slack.titles) == 1
    await write(watched, update(incidents).values(closed_at=watched.clock.now(), closed_by="drift detection"))
    await watched.minutes(1)
    assert watched.slack.titles[-1] == f"Recovered: {watched.slack.titles[0]}"


async def test_a_storm_of_thirty_sources_of_one_host_is_one_incident_and_two_messages(watched: Watched) -> None:
    await sources_of_one_host(watched, 70)
    rows = [breaker(key, watched.clock) for key in range(1, 31)]
    for place in range(0, 30, 3):
        await put(watched.system.store.database, breakers, *rows[place : place + 3])
        await watched.minutes(1)
    (incident,) = await watched.all_rows()
    assert (incident["alert"], incident["cause"], len(incident["subjects"])) == ("breaker_open", "host a.example", 30)
    await breakers_close(watched)
    await watched.minutes(20)
    assert [title.split(" (")[0] for title in watched.slack.titles] == [
        "P2 breaker open: host a.example", "Recovered: P2 breaker open: host a.example",
    ]  # fmt: skip
    (message,) = [each for _, each in watched.slack.messages if each["text"].startswith("Recovered")]
    assert "is over after" in message["blocks"][1]["text"]["text"]


async def test_what_was_closed_by_hand_and_goes_on_is_not_told_as_recovered(watched: Watched) -> None:
    await many_letters(watched)
    await watched.minutes(7)
    (incident,) = await watched.system.actions.incidents.every()
    await watched.system.actions.incidents.close(incident.id, "ann")
    await watched.minutes(20)
    assert watched.slack.titles == ["P2 dead letters: 51 dead letters are pending"] * 2
    await no_letters(watched)
    await watched.minutes(7)
    assert watched.slack.titles[2:] == ["Recovered: P2 dead letters: this installation"]


async def test_an_urgent_incident_silences_the_others_of_its_cause_until_it_is_over(watched: Watched) -> None:
    await tick_dies(watched)
    await watched.minutes(3)
    await many_letters(watched)
    await watched.minutes(5)
    assert await watched.open() == ["dead_letters", "tick_silent"]
    assert [title.split(":")[0] for title in watched.slack.titles] == ["P1 tick silent"]
    await ticks_are_done(watched)
    await watched.minutes(12)
    assert watched.slack.titles[1:] == [
        "P2 dead letters: 51 dead letters are pending", "Recovered: P1 tick silent: this installation",
    ]  # fmt: skip


async def test_of_what_is_told_at_once_the_most_urgent_goes_first(watched: Watched) -> None:
    await breakers_open(watched)
    await watched.minutes(1)
    assert watched.slack.titles == ["P1 breakers open: vertical events", "P2 breaker open: host a.example"]
    (urgent,) = [words for words in watched.slack.texts if "So many sites" in words]
    assert "the breakers of 2 of 3 sources are open, all of host a.example" in urgent


class SlowChannel:
    """Takes what it is given, once it is let."""

    name = "mail"
    service = Service.MAIL

    def __init__(self, until: asyncio.Event) -> None:
        self.until, self.taken = until, list[str]()

    async def send(self, notice: AlertNotice, repeated: str, now: datetime) -> ChannelAnswer:
        assert (repeated, now.tzinfo) == ("", UTC)
        await self.until.wait()
        self.taken.append(notice.title)
        return ChannelAnswer()

    async def close(self) -> None:
        pass


async def test_a_slow_channel_holds_no_other_up(watched: Watched) -> None:
    slack_has_it = asyncio.Event()
    slow = SlowChannel(slack_has_it)
    sender = watched.system.alerts.sender
    both = replace(sender, channels={"mail": slow, "slack": sender.channels["slack"]})
    notice = AlertNotice(key="k", kind="opened", title="P1", at=watched.clock.now())
    now = watched.clock.now()
    notices = [OutgoingNotice(channel=name, notice=notice, send_after=now) for name in ("mail", "slack")]
    await watched.system.alerts.outbox.add(notices, now)
    passing = asyncio.create_task(both.run())

    async def slack_took_it() -> bool:
        return bool(watched.slack.messages)

    await until(slack_took_it, "Slack has the message")
    assert slow.taken == []
    slack_has_it.set()
    assert await passing == "2 sent"
    assert slow.taken == ["P1"]


async def test_what_goes_on_is_repeated_after_twelve_hours_unless_somebody_is_at_it(watched: Watched) -> None:
    await many_letters(watched)
    await watched.minutes(13, timedelta(hours=1))
    assert [title.startswith("Still: ") for title in watched.slack.titles] == [False, True]
    (incident,) = await watched.system.actions.incidents.every()
    await watched.system.actions.incidents.acknowledge(incident.id, "ann", "on it")
    await watched.minutes(30, timedelta(hours=1))
    assert len(watched.slack.titles) == 2


async def test_a_snoozed_incident_is_told_again_when_the_time_is_up(watched: Watched) -> None:
    await many_letters(watched)
    await watched.minutes(1)
    (incident,) = await watched.system.actions.incidents.every()
    await watched.system.actions.incidents.snooze(incident.id, "ann", timedelta(hours=2))
    await watched.minutes(118)
    assert len(watched.slack.titles) == 1
    await watched.minutes(5)
    assert len(watched.slack.titles) == 2


async def test_what_people_do_is_noted_and_what_is_over_stays_over(watched: Watched) -> None:
    await many_letters(watched)
    await watched.minutes(1)
    actions = watched.system.actions.incidents
    (incident,) = await actions.every()
    await actions.comment(incident.id, "ann", "looking")
    await no_letters(watched)
    closed = await actions.close(incident.id, "bob", "mended")
    assert [(each.actor, each.action, each.note) for each in closed.notes] == [
        ("ann", "commented", "looking"), ("bob", "closed", "mended"),
    ]  # fmt: skip
    with pytest.raises(Mistake, match="is over since"):
        await actions.acknowledge(incident.id, "ann")
    with pytest.raises(Mistake, match="no incident 99"):
        await actions.show(99)
    await watched.minutes(8)
    assert await watched.open() == []


async def test_an_incident_closed_by_hand_opens_anew_while_its_condition_holds(watched: Watched) -> None:
    await many_letters(watched)
    await watched.minutes(1)
    (incident,) = await watched.system.actions.incidents.every()
    await watched.system.actions.incidents.close(incident.id, "ann")
    await watched.minutes(1)
    (again,) = await watched.system.actions.incidents.every()
    assert again.id != incident.id


@pytest.mark.shows("X7")
async def test_why_explains_an_incident(watched: Watched) -> None:
    await many_letters(watched)
    await watched.minutes(1)
    (incident,) = await watched.system.actions.incidents.every()
    explained = await watched.system.actions.why.explain(f"incident:{incident.id}")
    assert "51 dead letters are pending" in explained.steps[0].detail
    assert explained.steps[-1].detail == "docs/runbooks/dead-letters.md"


async def one_worker(watched: Watched, **other: Any) -> None:
    now = watched.clock.now()
    row = {"id": 1, "name": "other machine", "pid": 1, "started_at": now, "seen_at": now}
    await put(watched.system.store.database, workers, row | other)


class SlowChecksClock(SettableClock):
    """A clock that goes on by two seconds each time that it is asked: the checks take long."""

    def now(self) -> datetime:
        return self.advance(timedelta(seconds=2))


async def test_a_heartbeat_that_came_while_the_checks_ran_is_no_clock_ahead(database: Database) -> None:
    slow = SlowChecksClock()
    signals = SignalReader(database, slow)
    async with a_watched(database, slow) as watched:
        began = slow.now()
        await one_worker(watched, seen_at=began + timedelta(seconds=1), clock_skew_ms=3)
        assert await signals.skewed_clocks(began) == []
        await write(watched, update(workers).values(seen_at=began + timedelta(hours=1)))
        (found,) = await signals.skewed_clocks(began)
        assert re.fullmatch(r"the clock of other machine is 35\d\d\.\d s ahead", found.detail), found.detail


@pytest.mark.parametrize(("skew_ms", "words"), [(-700, "0.7 s behind"), (700, "0.7 s ahead"), (499, ""), (None, "")])
async def test_a_measured_skew_is_told_with_its_length(watched: Watched, skew_ms: int | None, words: str) -> None:
    await one_worker(watched, clock_skew_ms=skew_ms)
    found = await SignalReader(watched.system.store.database, watched.clock).skewed_clocks(watched.clock.now())
    assert [each.detail for each in found] == ([f"the clock of other machine is {words}"] if words else [])


@pytest.mark.shows("R2")
async def test_fifty_dead_letters_are_no_alert_and_fifty_one_are(watched: Watched) -> None:
    await many_letters(watched)
    await write(watched, delete(dead_letters).where(dead_letters.c.id == 51))
    await watched.minutes(1)
    assert await watched.open() == []
    await put(watched.system.store.database, dead_letters, letter(51, watched.clock))
    await watched.minutes(1)
    assert await watched.open() == ["dead_letters"]


async def some_round(watched: Watched, key: int, **other: Any) -> None:
    now = watched.clock.now()
    counts = {"records_inserted": key, "urls_succeeded": 1, "complete": True, "completed_at": now + MINUTE}
    await put(watched.system.store.database, runs, a_run(key, started_at=now, **counts | other))


@pytest.mark.shows("R3", "B15")
async def test_slack_gone_for_a_day_gets_every_summary_afterwards_in_order_once(watched: Watched) -> None:
    await sources_of_one_host(watched, 1)
    watched.slack.is_gone = True
    for key in range(1, 25):
        await some_round(watched, key)
        await watched.minutes(4, timedelta(minutes=15))
    assert watched.slack.messages == []
    (slack,) = [each for each in await watched.system.services.statuses() if each.service is Service.SLACK]
    assert slack.state is ServiceState.DEGRADED
    watched.slack.is_gone = False
    await watched.minutes(3, timedelta(minutes=15))
    told = [message["blocks"][1]["text"]["text"] for _, message in watched.slack.messages]
    assert [f"*Inserted:* {key}\n" in words for key, words in zip(range(1, 25), told, strict=True)] == [True] * 24
    times = [at for at, _ in watched.slack.messages]
    assert all(after - before >= timedelta(seconds=1) for before, after in pairwise(times))
    (slack,) = [each for each in await watched.system.services.statuses() if each.service is Service.SLACK]
    assert slack.state is ServiceState.WORKS


async def test_a_limit_is_obeyed_to_the_second(watched: Watched) -> None:
    await many_letters(watched)
    watched.slack.fault, watched.slack.retry_after = StandinFault.RATE_LIMITED, 90
    await watched.evaluate()
    await watched.send()
    first = watched.slack.asked[-1]
    watched.slack.fault = StandinFault.NONE
    for _ in range(120):
        await watched.send()
        watched.clock.advance(timedelta(seconds=1))
    assert len(watched.slack.messages) == 1
    assert watched.slack.messages[0][0] - first == timedelta(seconds=90)


@pytest.mark.parametrize("fault", [StandinFault.DOWN, StandinFault.HANGS, StandinFault.BROKEN])
async def test_slack_in_trouble_costs_no_message(fault: StandinFault, watched: Watched) -> None:
    await many_letters(watched)
    watched.slack.fault = fault
    await watched.minutes(5)
    watched.slack.fault = StandinFault.DOWN
    await watched.minutes(5)
    watched.slack.fault = StandinFault.NONE
    await watched.minutes(17)
    (words,) = watched.slack.texts
    assert (MAY_HAVE_COME in words) == (fault is StandinFault.HANGS)


async def test_a_crash_between_sending_and_noting_doubles_one_message_which_says_so(watched: Watched) -> None:
    await many_letters(watched)
    await tick_dies(watched)
    await watched.evaluate()
    outbox = AlertOutbox(watched.system.store.database, watched.system.store.ids)
    claimed = await outbox.claim("slack", watched.clock.now())
    assert claimed is not None
    channel = watched.system.alerts.sender.channels["slack"]
    await channel.send(claimed.notices[0], "", watched.clock.now())  # and here the process dies
    watched.clock.advance(MINUTE)
    await watched.send()
    assert len(watched.slack.messages) == 1
    watched.clock.advance(timedelta(minutes=5))
    await watched.send()
    assert len([title for title in watched.slack.titles if "dead letters" in title]) == 2
    assert watched.slack.titles[0] == watched.slack.titles[1]
    assert watched.slack.messages[1][1]["blocks"][-1]["text"]["text"] == MAY_HAVE_COME
    await watched.minutes(3)
    assert len([title for title in watched.slack.titles if "dead letters" in title]) == 2


async def test_a_summary_tells_the_ten_figures_completeness_and_degraded_services(watched: Watched) -> None:
    await sources_of_one_host(watched, 2)
    start = watched.clock.now()
    await some_round(watched, 1, urls_failed=2, degraded=["llm"], complete=False)
    await some_round(watched, 2, source_id=2, records_updated=4, records_unchanged=5)
    watched.clock.advance(MINUTE)
    await put(watched.system.store.database, breakers, breaker(2, watched.clock))
    await put(watched.system.store.database, dead_letters, letter(1, watched.clock))
    await watched.minutes(8)
    (summary,) = await watched.system.alerts.rounds.latest()
    assert (summary.run_id, summary.started_at, summary.sources_processed) == (1, start, 2)
    assert (summary.records_inserted, summary.records_updated, summary.records_skipped) == (3, 4, 5)
    assert (summary.errors, summary.circuit_breakers_tripped, summary.dlq_items_added) == (2, ("source 2",), 1)
    assert (summary.complete_runs, summary.runs, summary.degraded) == (1, 2, ("llm",))
    told = [message for _, message in watched.slack.messages if message["text"].startswith("Scrape of events")]
    assert len(told) == 1
    words = "\n".join(block["text"]["text"] for block in told[0]["blocks"])
    assert "*Circuit breakers tripped:*\nsource 2" in words
    assert "*Did without:* llm" in words


async def test_quiet_hours_hold_what_is_not_urgent_and_never_what_is(database: Database, clock: SettableClock) -> None:
    async with a_watched(database, clock, alert_quiet_hours="11:00-14:00") as watched:
        await many_letters(watched)
        await watched.minutes(5)
        assert watched.slack.titles == []
        await adapter_off(watched)
        await watched.minutes(2)
        assert [title[:2] for title in watched.slack.titles] == ["P1"]
        await watched.minutes(120)
        assert [title[:2] for title in watched.slack.titles] == ["P1", "P2"]
        assert watched.slack.messages[1][0].hour == 14


async def test_a_digest_puts_a_days_notices_into_one_message(database: Database, clock: SettableClock) -> None:
    async with a_watched(database, clock, alert_digest=["P2"], alert_digest_at="13:00") as watched:
        await many_letters(watched)
        await name_fails_too(watched)
        await watched.minutes(59)
        assert watched.slack.titles == []
        await watched.minutes(3)
        assert watched.slack.titles == ["2 notices of the last day"]


async def name_fails_too(watched: Watched) -> None:
    await put(watched.system.store.database, sources, a_source())
    await put(watched.system.store.database, targets, a_target())
    row = letter(90, watched.clock, error_type="tls_failed", error_message="expired")
    await put(watched.system.store.database, dead_letters, row)


async def test_a_route_keeps_a_channel_to_what_it_asked_for(database: Database, clock: SettableClock) -> None:
    routes = {"slack": {"severities": ["P1"]}}
    async with a_watched(database, clock, alert_routes=routes) as watched:
        await many_letters(watched)
        await watched.minutes(2)
        assert watched.slack.titles == []


async def test_planted_secrets_are_in_no_notice(watched: Watched) -> None:
    await put(watched.system.store.database, sources, a_source())
    await put(watched.system.store.database, targets, a_target())
    words = "https://user:hunter2@a.example/?api_key=s3cr3t Authorization: Bearer t0ken password=pa55"
    row = letter(1, watched.clock, error_type="dns_failed", error_message=words)
    await put(watched.system.store.database, dead_letters, row)
    await watched.minutes(2)
    (incident,) = await watched.all_rows()
    sent = msgspec.json.encode([message for _, message in watched.slack.messages]).decode()
    assert "a.example" in sent
    for secret in ("hunter2", "s3cr3t", "t0ken", "pa55", "/services/T000"):
        assert secret not in sent
        assert secret not in incident["detail"]


@pytest.mark.shows("H6")
async def test_a_dead_man_is_noticed_by_its_silence(watched: Watched) -> None:
    ping = watched.system.alerts.deadman
    assert ping is not None
    assert await ping.run() == "pinged"
    watched.clock.advance(MINUTE)
    assert not watched.pinged.is_alarmed(watched.clock.now())
    await tick_dies(watched)
    for _ in range(6):
        assert (await ping.run()).startswith("no ping: tick ")
        watched.clock.advance(MINUTE)
    assert watched.pinged.is_alarmed(watched.clock.now())


async def test_a_disk_that_runs_low_is_announced_once(watched: Watched) -> None:
    await disk(10_000_000_000, 900_000_000)(watched)
    await watched.minutes(9)
    assert len([each for each in watched.heard if isinstance(each, DiskLow)]) == 1
