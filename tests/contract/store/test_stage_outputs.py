import errno
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, delete, select

from rig.clock import NOON
from rig.mill import Mill, at_stage
from tidemill.core.outcome import Stage
from tidemill.pipeline.checkpoints import Claimed
from tidemill.pipeline.kept_readings import decode_found
from tidemill.pipeline.ports import StoreLost
from tidemill.store.database.database import Database
from tidemill.store.pages.bodies import Bodies, bodies_for
from tidemill.store.pages.output_files import SMALL
from tidemill.store.pages.segments import segment_numbers, segment_path
from tidemill.store.schema import raw_records, runs, staged_records

FOUND, STAGED = raw_records.c.found, staged_records.c.staged
LARGE = bytes(range(256)) * 40
LATER = NOON + timedelta(days=100)
HOUR = timedelta(hours=1)


def raw(page_id: int, found: bytes) -> dict[str, Any]:
    row = {"page_id": page_id, "job_id": page_id, "adapter_id": "a", "adapter_version": "1", "strategy": "json-ld"}
    return row | {"records": 0, "found": found, "created_at": NOON}


def staged(page_id: int, output: bytes) -> dict[str, Any]:
    row = {"page_id": page_id, "job_id": page_id, "accepted": 0, "dropped": 0, "quarantined": 0}
    return row | {"staged": output, "created_at": NOON}


async def keep(
    database: Database, bodies: Bodies, raws: dict[int, bytes], judged: dict[int, bytes] | None = None
) -> None:
    made = [
        (FOUND, [raw(key, output) for key, output in raws.items()]),
        (STAGED, [staged(key, output) for key, output in (judged or {}).items()]),
    ]
    async with database.write() as connection:
        await bodies.outputs.put(connection, made)


async def kept(database: Database, bodies: Bodies, column: Column[Any], page_id: int) -> bytes | None:
    async with database.read() as connection:
        return await bodies.outputs.get(connection, column, page_id)


async def in_row(database: Database, page_id: int) -> tuple[int, int | None]:
    """How many bytes of a reading its row holds, and the segment that it points to."""
    query = select(raw_records.c.found, raw_records.c.segment).where(raw_records.c.page_id == page_id)
    async with database.read() as connection:
        found, segment = (await connection.execute(query)).one()
    return len(found), segment


@pytest.fixture
async def twice(sqlite_database: Database) -> AsyncIterator[tuple[Bodies, Bodies]]:
    """A keeper that wrote and ended, as after a restart, and the one after it."""
    before, after = bodies_for(sqlite_database), bodies_for(sqlite_database)
    yield before, after
    await before.close()
    await after.close()


async def test_outputs_of_any_size_come_back(database: Database, bodies: Bodies) -> None:
    sizes = [0, 1, SMALL, SMALL + 1, 300_000]
    outputs = {key: bytes([key]) * size for key, size in enumerate(sizes, start=1)}
    await keep(database, bodies, outputs, {key: output + b"!" for key, output in outputs.items()})
    for key, output in outputs.items():
        assert await kept(database, bodies, FOUND, key) == output
        assert await kept(database, bodies, STAGED, key) == output + b"!"
    assert await kept(database, bodies, FOUND, 99) is None


@pytest.mark.shows("R4")
@pytest.mark.parametrize(("first", "second"), [(LARGE, b"{}"), (b"{}", LARGE), (LARGE, LARGE[::-1])])
async def test_a_stage_that_runs_twice_leaves_its_second_output(
    database: Database, bodies: Bodies, first: bytes, second: bytes
) -> None:
    await keep(database, bodies, {1: first, 2: LARGE})
    await keep(database, bodies, {1: second})
    assert await kept(database, bodies, FOUND, 1) == second
    assert await kept(database, bodies, FOUND, 2) == LARGE


async def test_what_was_undone_was_never_kept(database: Database, bodies: Bodies) -> None:
    with pytest.raises(ZeroDivisionError):
        await keep_and_fail(database, bodies)
    assert await kept(database, bodies, FOUND, 1) is None
    await keep(database, bodies, {1: b"{}", 2: LARGE})
    assert await kept(database, bodies, FOUND, 2) == LARGE


async def keep_and_fail(database: Database, bodies: Bodies) -> None:
    async with database.write() as connection:
        await bodies.outputs.put(connection, [(FOUND, [raw(1, LARGE)])])
        raise ZeroDivisionError


async def test_on_sqlite_only_small_outputs_are_in_their_rows(sqlite_database: Database) -> None:
    bodies = bodies_for(sqlite_database)
    await keep(sqlite_database, bodies, {1: b"x" * SMALL, 2: b"x" * (SMALL + 1)})
    assert await in_row(sqlite_database, 1) == (SMALL, None)
    assert await in_row(sqlite_database, 2) == (0, 1)
    await bodies.close()


async def test_a_full_disk_is_said_in_words_and_the_next_try_keeps_the_output(
    sqlite_database: Database, segments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies, write = bodies_for(sqlite_database), os.pwritev
    await keep(sqlite_database, bodies, {1: LARGE})
    end_of_disk = segment_path(segments, 1).stat().st_size + len(LARGE) // 2

    def until_full(file: int, pieces: list[bytes], place: int) -> int:
        if place >= end_of_disk:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, [b"".join(pieces)[: end_of_disk - place]], place)

    with monkeypatch.context() as disk:
        disk.setattr(os, "pwritev", until_full)
        with pytest.raises(StoreLost, match="disk is full"):
            await keep(sqlite_database, bodies, {2: LARGE})
    assert await kept(sqlite_database, bodies, FOUND, 2) is None
    await keep(sqlite_database, bodies, {2: LARGE[::-1]})
    assert await kept(sqlite_database, bodies, FOUND, 1) == LARGE
    assert await kept(sqlite_database, bodies, FOUND, 2) == LARGE[::-1]
    await bodies.close()


async def test_a_damaged_output_is_not_there_and_its_neighbour_is(
    sqlite_database: Database, segments: Path, twice: tuple[Bodies, Bodies]
) -> None:
    before, after = twice
    await keep(sqlite_database, before, {1: LARGE, 2: LARGE})
    await before.close()
    damage(segment_path(segments, 1), at=len(LARGE) // 2)
    assert await kept(sqlite_database, after, FOUND, 1) is None
    assert await kept(sqlite_database, after, FOUND, 2) == LARGE


def damage(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


async def test_a_segment_stays_for_a_single_output_that_a_row_points_to(
    sqlite_database: Database, segments: Path, twice: tuple[Bodies, Bodies]
) -> None:
    before, after = twice
    await keep(sqlite_database, before, {1: LARGE})
    await before.close()
    await keep(sqlite_database, after, {2: LARGE})
    for hour in range(3):
        assert await after.tidy(LATER + hour * HOUR) == 0
    assert segment_numbers(segments) == [1, 2]
    assert await kept(sqlite_database, after, FOUND, 1) == LARGE


async def test_outputs_move_out_of_a_mostly_empty_segment_and_it_goes(
    sqlite_database: Database, segments: Path, twice: tuple[Bodies, Bodies]
) -> None:
    before, after = twice
    await keep(sqlite_database, before, dict.fromkeys(range(1, 9), LARGE), {8: LARGE[::-1]})
    await before.close()
    async with sqlite_database.write() as connection:
        await connection.execute(delete(raw_records).where(raw_records.c.page_id < 8))
    await keep(sqlite_database, after, {9: LARGE})
    freed = [await after.tidy(LATER + hour * HOUR) for hour in range(3)]
    assert sum(freed) > 8 * len(LARGE)
    assert 1 not in segment_numbers(segments)
    assert await kept(sqlite_database, after, FOUND, 8) == LARGE
    assert await kept(sqlite_database, after, STAGED, 8) == LARGE[::-1]


async def test_what_is_damaged_does_not_keep_its_neighbours_from_moving_out(
    sqlite_database: Database, segments: Path, twice: tuple[Bodies, Bodies]
) -> None:
    before, after = twice
    await keep(sqlite_database, before, dict.fromkeys(range(1, 9), LARGE))
    await before.close()
    damage(segment_path(segments, 1), at=len(LARGE) // 2)
    async with sqlite_database.write() as connection:
        await connection.execute(delete(raw_records).where(raw_records.c.page_id.between(2, 7)))
    await keep(sqlite_database, after, {9: LARGE})
    await after.tidy(LATER)
    assert await kept(sqlite_database, after, FOUND, 8) == LARGE
    assert await in_row(sqlite_database, 8) == (0, 3)
    assert await kept(sqlite_database, after, FOUND, 1) is None


async def test_a_row_of_a_former_version_is_read_as_it_was(sqlite_database: Database) -> None:
    bodies = bodies_for(sqlite_database)
    async with sqlite_database.write() as connection:
        await connection.execute(raw_records.insert(), [raw(1, LARGE)])
    assert await kept(sqlite_database, bodies, FOUND, 1) == LARGE
    await bodies.close()


TITLES = [f"Jazzavond nummer {number} in de kelder van het oude stadhuis" for number in range(60)]


@pytest.mark.shows("O6")
async def test_a_job_resumes_from_outputs_beside_their_rows(mill: Mill) -> None:
    await mill.enqueue(await mill.source())
    (held,) = await mill.claim(await mill.worker())
    outcome = mill.fetched(held)
    page = outcome.produced.page
    parsing, judging = at_stage(held, Stage.PARSE, page.id), at_stage(held, Stage.NORMALIZE, page.id)
    await mill.commit((held, outcome))
    await mill.commit((parsing, mill.parsed(page, TITLES)))
    await mill.commit((judging, mill.judged(page, TITLES, held.source)))
    (read,), (judged,) = [await mill.ledger.restore([at_stage(held, stage, page.id)]) for stage in LATER_STAGES]
    assert [raw.fields["title"] for raw in decode_found(read.stage_input.found.encoded).records] == TITLES
    assert [each.record.title for each in judged.stage_input.accepted] == TITLES


async def test_an_unchanged_page_marks_what_is_beside_its_row_as_seen_again(mill: Mill) -> None:
    source = await mill.source()
    for carry in (mill.carry, see_unchanged(mill)):
        await mill.enqueue(source)
        (held,) = await mill.claim(await mill.worker())
        await carry(held, TITLES)
        mill.clock.advance(HOUR)
    first, last = await mill.rows(runs)
    assert (first["records_inserted"], last["records_seen_again"]) == (60, 60)


LATER_STAGES = (Stage.NORMALIZE, Stage.PERSIST)


def see_unchanged(mill: Mill) -> Callable[[Claimed, Sequence[str]], Awaitable[object]]:
    async def carry(held: Claimed, _titles: Sequence[str]) -> object:
        return await mill.commit((held, mill.unchanged(held)))

    return carry
