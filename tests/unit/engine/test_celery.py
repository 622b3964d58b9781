"""What beat sends and when, and how many workers are woken."""

from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.bootstrap.cluster.celery_app import celery_app
from tidemill.bootstrap.plugins import PLUGINS
from tidemill.bootstrap.system import build
from tidemill.core.admission import workers_to_wake
from tidemill.core.schedules import Cron, Every
from tidemill.engine.celery.app import make_app
from tidemill.engine.celery.slots import SlotSchedule, beat_schedule
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
