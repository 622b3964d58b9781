"""What beat sends and when, and how many workers are woken."""

import os
from datetime import timedelta
from types import SimpleNamespace

import pytest

from rig.clock import NOON
from tidemill.bootstrap.cluster.celery_app import celery_app
from tidemill.bootstrap.plugins import PLUGINS
from tidemill.bootstrap.system import build
from tidemill.cli.commands.cluster.worker import node_name
from tidemill.core.admission import workers_to_wake
from tidemill.core.schedules import Cron, Every
from tidemill.engine.celery.app import make_app
from tidemill.engine.celery.mailbox import waiting_in
from tidemill.engine.celery.slots import SlotSchedule, SlotScheduler, beat_schedule
from tidemill.engine.celery.tasks import tick_as_sent
from tidemill.engine.periodic import Chore
from tidemill.operations.mistakes import Mistake
from tidemill.settings import load_settings

POSTGRES = "postgresql://somebody@127.0.0.1:9/nothing"
BROKER = "redis://127.0.0.1:9/0"
MINUTE = timedelta(minutes=1)


async def nothing() -> str:
    return ""


def schedule_at(now, chore):
    schedule = SlotSchedule(chore, make_app(BROKER))
    schedule.nowfun = lambda: now
    return schedule


@pytest.mark.parametrize(("ready", "workers"), [(0, 0), (1, 1), (10, 1), (11, 2), (100, 10), (10_000, 10)])
def test_one_worker_is_woken_per_ten_jobs_and_ten_at_most(ready, workers):
    assert workers_to_wake(ready, 10, 10) == workers


def test_an_entry_is_due_once_in_each_slot_however_late_it_was_sent_before():
    chore = Chore("sweep", Every(MINUTE), nothing)
    late = NOON + timedelta(seconds=59)
    assert schedule_at(late, chore).is_due(NOON) == (False, 1.0)
    assert schedule_at(NOON + MINUTE, chore).is_due(late) == (True, 60.0)


def test_a_nightly_chore_is_due_at_its_own_hour():
    chore = Chore("sweep", Cron("0 3 * * *"), nothing)
    assert schedule_at(NOON, chore).is_due(NOON) == (False, 15 * 3600.0)


def test_beat_has_an_entry_for_every_chore_and_each_is_due_at_its_start():
    settings = load_settings(database=POSTGRES)
    chores = build(settings).ticks.chores
    entries = beat_schedule(chores.values(), make_app(BROKER))
    assert set(entries) == set(chores)
    assert {entry["options"]["queue"] for entry in entries.values()} == {"maintenance"}
    assert all(entry["schedule"].is_due(entry["last_run_at"])[0] for entry in entries.values())


def test_what_beat_starts_with_can_be_sent_to_the_last_entry():
    app = celery_app(load_settings(database=POSTGRES, broker=BROKER))
    app.conf.broker_url = "memory://"
    scheduler = SlotScheduler(app=app)
    for entry in scheduler.schedule.values():
        scheduler.apply_async(entry, advance=False)
    with app.connection_for_read() as connection:
        sent = connection.default_channel.queue_purge("maintenance")
    assert sent == len(scheduler.schedule) == len(build(load_settings(database=POSTGRES)).ticks.chores)


class Beat:
    """Beat's scheduler over a broker in memory, at a time that the test sets."""

    def __init__(self) -> None:
        self.now = NOON
        self.app = celery_app(load_settings(database=POSTGRES, broker=BROKER))
        self.app.conf.broker_url = "memory://"
        self.app.now = lambda: self.now
        self.scheduler = SlotScheduler(app=self.app)
        self.taken()

    def sends(self) -> int:
        """Send all that is due now; answers how many messages wait, and takes none."""
        while self.scheduler.tick() == 0:
            pass
        with self.app.connection_for_read() as connection:
            return waiting_in(connection, "maintenance")

    def taken(self) -> None:
        """Take what waits."""
        with self.app.connection_for_read() as connection:
            connection.default_channel.queue_purge("maintenance")


@pytest.fixture
def beat():
    made = Beat()
    yield made
    made.taken()


def test_beat_goes_on_at_once_when_the_clock_is_set_back(beat):
    everything = len(beat.scheduler.schedule)
    assert beat.sends() == everything
    beat.taken()
    assert beat.sends() == 0
    beat.now -= timedelta(hours=3)
    assert beat.sends() == everything
    beat.taken()
    beat.now -= timedelta(seconds=1)
    assert beat.sends() == 0
    beat.now += timedelta(minutes=2)
    assert 0 < beat.sends() < everything


def test_what_beat_sends_does_not_pile_up_where_no_worker_takes_it(beat, monkeypatch):
    monkeypatch.setattr("tidemill.engine.celery.slots.MOST_WAITING", 3)
    assert beat.sends() == 3
    beat.now += timedelta(days=1)
    assert beat.sends() == 3
    beat.taken()
    beat.now += timedelta(days=1)
    assert beat.sends() == 3


async def test_a_chore_that_this_version_does_not_have_is_left_alone():
    ticks = build(load_settings(database=POSTGRES)).ticks
    worker = SimpleNamespace(beat=None, ticks=ticks)
    assert [await tick_as_sent(worker, name) for name in ("of the next version", {"a": 1}, None)] == ["unknown"] * 3


def test_the_tasks_that_verticals_list_are_those_that_they_bring():
    system = build(load_settings(database=POSTGRES))
    assert {task for plugin in PLUGINS.values() for task in plugin.tasks} == set(system.tasks)


def test_the_tasks_of_the_seed_can_be_sent_by_name():
    app = celery_app(load_settings(database=POSTGRES, broker=BROKER))
    named = {"dispatch_scrapes", "decay_and_verify", "cleanup_maintenance", "scrape_city_task", "verify_listing"}
    assert named | {"tidemill.drain", "tidemill.tick"} <= set(app.tasks)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"broker": BROKER}, "needs PostgreSQL"), ({"database": POSTGRES}, "needs a broker")],
    ids=["sqlite", "no broker"],
)
def test_a_cluster_without_what_it_needs_is_refused_with_what_to_set(settings, words):
    with pytest.raises(Mistake, match=words):
        celery_app(load_settings(**settings))


@pytest.mark.parametrize(("name", "node"), [("http:2.web1", "http:2.web1@%h"), ("digger@far", "digger@far")])
def test_celery_calls_a_worker_as_its_settings_do(name, node):
    assert node_name(name) == node


def test_two_workers_without_names_on_one_machine_are_two():
    assert node_name(None) == f"worker-{os.getpid()}@%h"


def test_lines_of_celerys_own_carry_the_name_of_the_worker():
    app = celery_app(load_settings(database=POSTGRES, broker=BROKER, worker_name="http:2.web1"))
    for line in (app.conf.worker_log_format, app.conf.worker_task_log_format):
        record = {"asctime": "now", "levelname": "INFO", "message": "ready", "task_name": "tick", "task_id": "1"}
        assert (line % record).startswith("[now: INFO/http:2.web1] ")
