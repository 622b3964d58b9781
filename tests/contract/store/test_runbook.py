from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rig.clock import NOON
from rig.rows import a_job, a_letter, a_source, put, the_usual
from tidemill.pipeline.ports import StoreError
from tidemill.store.database.column_types import to_micros
from tidemill.store.database.database import Database
from tidemill.store.schema import breakers, dead_letters, jobs, sources
from tidemill.store.views.runbook import ask, for_sqlite, questions_in

pytestmark = pytest.mark.shows("D1")

HEALTH = """
-- how the pipeline does
SELECT
  current_stage,
  COUNT(*) as jobs,
  COUNT(*) FILTER (WHERE completed_at IS NOT NULL) as completed,
  COUNT(*) FILTER (WHERE attempts >= max_attempts) as failed
FROM pipeline_jobs
WHERE created_at > NOW() - INTERVAL '24 hours'
GROUP BY current_stage;
"""
BREAKERS = """
SELECT name, circuit_state, failure_count, cooldown_until
FROM source_health_status
WHERE circuit_state != 'CLOSED';
"""
LETTERS = """
SELECT stage, error_type, COUNT(*)
FROM dead_letter_queue
WHERE status = 'pending'
GROUP BY stage, error_type;
"""
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
FAR_AWAY = datetime(2999, 1, 1, tzinfo=UTC)


@pytest.fixture
async def furnished(database: Database) -> Database:
    """Jobs made in the far future count as of the last 24 hours by any clock; those of 2000 do not."""
    await the_usual(database)
    await put(database, sources, a_source(2))
    rows = [
        a_job(1, created_at=FAR_AWAY, attempts=0),
        a_job(2, created_at=FAR_AWAY, attempts=1, status="ready", current_stage="fetch", completed_at=None),
        a_job(3, created_at=FAR_AWAY, attempts=3, status="dead", current_stage="dead_letter"),
        a_job(4, created_at=LONG_AGO, attempts=0),
    ]
    await put(database, jobs, *rows)
    opened = {"source_id": 1, "state": "OPEN", "failure_count": 5, "cooldown_until": FAR_AWAY, "changed_at": NOON}
    await put(database, breakers, opened)
    await put(
        database, dead_letters, a_letter(1), a_letter(2), a_letter(3, stage="parse"), a_letter(4, status="resolved")
    )
    return database


def check_the_three(health: list[Any], tripped: list[Any], dead: list[Any]) -> None:
    assert sorted(health) == [("completed", 1, 1, 0), ("dead_letter", 1, 1, 1), ("fetch", 1, 0, 0)]
    assert tripped == [("source 1", "OPEN", 5, "2999-01-01T00:00:00+00:00")]
    assert sorted(dead) == [("fetch", "timeout", 2), ("parse", "timeout", 1)]


@pytest.mark.inventory(126)
async def test_the_daily_checks_answer_alike_on_both_databases(furnished: Database) -> None:
    check_the_three(*[list((await ask(furnished, query)).rows) for query in (HEALTH, BREAKERS, LETTERS)])


async def test_the_runbook_itself_runs_as_written(furnished: Database, project_root: Path) -> None:
    runbook = project_root.parent / "shared" / "seeds" / "events-pipeline.md"
    text = read_if_there(runbook)
    if text is None:
        pytest.skip("the runbook is not beside this checkout (../shared/seeds)")
    block = text.split("## Operational Runbook")[-1].split("```sql")[1].split("```")[0]
    queries = questions_in(block)
    assert len(queries) == 3
    check_the_three(*[list((await ask(furnished, query)).rows) for query in queries])


def read_if_there(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


async def test_now_can_be_told_where_time_is_not_the_worlds(sqlite_database: Database) -> None:
    await the_usual(sqlite_database)
    await put(sqlite_database, jobs, a_job(1))
    for days, expected in ((0.5, 1), (2, 0)):
        answer = await ask(sqlite_database, HEALTH, now=NOON + timedelta(days=days))
        assert len(answer.rows) == expected


async def test_columns_are_named_and_moments_and_flags_are_readable(furnished: Database) -> None:
    answer = await ask(furnished, "SELECT id, created_at, enabled, is_available FROM source_health_status ORDER BY id")
    assert answer.columns == ["id", "created_at", "enabled", "is_available"]
    assert answer.rows[0] == (1, "2026-03-02T12:00:00+00:00", True, False)
    assert answer.rows[1][3] is True


async def test_the_order_that_was_asked_for_is_kept(furnished: Database) -> None:
    answer = await ask(furnished, "SELECT id, id FROM pipeline_jobs ORDER BY id DESC")
    assert answer.rows == [(4, 4), (3, 3), (2, 2), (1, 1)]


async def test_numbers_are_plain(furnished: Database) -> None:
    answer = await ask(furnished, "SELECT SUM(attempts), AVG(attempts) FROM pipeline_jobs")
    assert answer.rows == [(4, 1.0)]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM pipeline_jobs",
        "UPDATE pipeline_jobs SET status = 'done'",
        "DROP TABLE pipeline_jobs",
        "PRAGMA query_only = OFF",
        "ATTACH DATABASE 'x' AS y",
        "",
        "-- nothing but a comment",
    ],
)
async def test_only_questions_are_answered(furnished: Database, statement: str) -> None:
    with pytest.raises(StoreError, match="only questions"):
        await ask(furnished, statement)


async def test_a_change_in_a_questions_clothes_is_refused_by_the_database(furnished: Database) -> None:
    change = "WITH x AS (SELECT 1) UPDATE pipeline_jobs SET attempts = 99"
    with pytest.raises(StoreError, match=r"only questions|does not understand"):
        await ask(furnished, change)
    assert (await ask(furnished, "SELECT MAX(attempts) FROM pipeline_jobs")).rows == [(3,)]


async def test_a_question_may_not_even_lock_a_row(furnished: Database) -> None:
    words = "does not understand" if furnished.is_sqlite else "only questions"
    with pytest.raises(StoreError, match=words):
        await ask(furnished, "SELECT id FROM pipeline_jobs FOR UPDATE")


async def test_the_database_can_be_written_again_after_a_question(furnished: Database) -> None:
    for key in range(100, 110):
        await ask(furnished, "SELECT 1")
        await put(furnished, sources, a_source(key))
    written = await ask(furnished, "SELECT count(*) FROM scraper_sources WHERE id BETWEEN 100 AND 109")
    assert written.rows[0][0] == 10


async def test_several_questions_are_asked_one_by_one(furnished: Database) -> None:
    with pytest.raises(StoreError, match="one question at a time"):
        await ask(furnished, "SELECT 1; SELECT 2")


async def test_a_question_with_a_mistake_is_answered_in_the_databases_words(furnished: Database) -> None:
    with pytest.raises(StoreError, match=r"does not understand the question: .*pipline_jobs"):
        await ask(furnished, "SELECT * FROM pipline_jobs")


async def test_a_long_answer_is_cut(database: Database) -> None:
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n"
    answer = await ask(database, many)
    assert len(answer.rows) == 1_000
    assert answer.cut


async def test_an_endless_question_is_stopped(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemill.store.views.runbook.PATIENCE", timedelta(milliseconds=50))
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"
    with pytest.raises(StoreError, match="took longer"):
        await ask(database, endless)
    assert (await ask(database, "SELECT 1 AS one")).rows == [(1,)]


@pytest.mark.parametrize(
    ("interval", "seconds"),
    [("24 hours", 86_400), ("1 day", 86_400), ("1 day 2 hours", 93_600), ("90 Minutes", 5_400), ("1.5 weeks", 907_200)],
)
def test_intervals_become_microseconds(interval: str, seconds: int) -> None:
    assert for_sqlite(f"SELECT interval '{interval}'") == f"SELECT {seconds * 1_000_000}"


def test_an_interval_that_nobody_understands_is_told() -> None:
    with pytest.raises(StoreError, match="24 hours"):
        for_sqlite("SELECT INTERVAL 'a while'")


def test_text_and_names_are_left_alone() -> None:
    question = """SELECT 'NOW() - INTERVAL ''24 hours''', "now()" FROM t WHERE a = 'x; y'"""
    assert for_sqlite(question, NOON) == question
    assert questions_in(question + "; -- a; b\nSELECT NOW()") == [question, "SELECT NOW()"]
    assert for_sqlite("SELECT now ( ), CURRENT_TIMESTAMP", NOON) == f"SELECT {to_micros(NOON)}, {to_micros(NOON)}"
