from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from rig.clock import NOON
from rig.rows import a_page, changing_pages, content_of, keep_pages, wire_of
from tidemill.store.database.database import Database
from tidemill.store.pages.bodies import Bodies, Packed, bodies_for, body_key
from tidemill.store.pages.compaction import compact
from tidemill.store.pages.encodings import Packer, Unreadable
from tidemill.store.pages.segments import segment_numbers, segment_path
from tidemill.store.schema import page_bodies, pages

DAY = timedelta(days=1)
LATER = NOON + 100 * DAY


async def keep_days(database: Database, bodies: Bodies, contents: list[bytes], first: int = 1, target: int = 1) -> None:
    rows = [a_page(first + day, content, NOON + day * DAY, target_id=target) for day, content in enumerate(contents)]
    await keep_pages(database, bodies, contents, rows)


async def rows_of(database: Database) -> list[tuple[str, bytes | None]]:
    """Encoding and root of the bodies, in order of their pages."""
    query = select(page_bodies.c.encoding, page_bodies.c.base_key).join(pages, pages.c.body_key == page_bodies.c.key)
    async with database.read() as connection:
        return [tuple(row) for row in await connection.execute(query.order_by(pages.c.id))]


async def test_changing_pages_are_kept_in_a_twentieth_of_their_room(database: Database, bodies: Bodies) -> None:
    contents = changing_pages(40)
    assert 25_000 < len(contents[0]) < 35_000
    await keep_days(database, bodies, contents)
    done = await compact(database, bodies, LATER)
    assert done.pages == 40
    assert done.content_bytes / done.after_bytes > 10
    assert done.content_bytes / done.after_bytes > 2 * done.content_bytes / done.before_bytes
    for content in contents:
        assert await content_of(database, bodies, content) == content


async def test_pages_of_the_last_day_are_left_as_they_came(database: Database, bodies: Bodies) -> None:
    await keep_days(database, bodies, changing_pages(3))
    assert (await compact(database, bodies, NOON + timedelta(hours=30))).pages == 1
    assert [encoding for encoding, _ in await rows_of(database)] == ["zstd/0", "gzip", "gzip"]


async def test_every_twentieth_page_stands_alone_across_ticks_too(database: Database, bodies: Bodies) -> None:
    await keep_days(database, bodies, changing_pages(50))
    for days in range(0, 60, 7):
        await compact(database, bodies, NOON + days * DAY)
    rows = await rows_of(database)
    alone = [place for place, (_, base) in enumerate(rows) if base is None]
    assert 0 in alone
    assert all(after - before <= 20 for before, after in zip(alone, [*alone[1:], 50], strict=True))
    assert {encoding for encoding, base in rows if base is None} == {"zstd/0"}


async def test_each_target_leans_on_its_own_pages(database: Database, bodies: Bodies) -> None:
    await keep_days(database, bodies, changing_pages(5, seed=1), first=1, target=1)
    await keep_days(database, bodies, changing_pages(5, seed=2), first=101, target=2)
    await compact(database, bodies, LATER)
    rows = await rows_of(database)
    assert len({base for _, base in rows[1:5]}) == 1
    assert len({base for _, base in rows[6:]}) == 1
    assert rows[1][1] != rows[6][1]


async def test_a_page_that_looks_nothing_like_the_last_one_stands_alone(database: Database, bodies: Bodies) -> None:
    redesign = [
        changing_pages(1, seed=1)[0],
        changing_pages(1, seed=2)[0].replace(b"<", b"\x01").replace(b" ", b"\x02"),
    ]
    await keep_days(database, bodies, redesign)
    await compact(database, bodies, LATER)
    assert [base for _, base in await rows_of(database)] == [None, None]


async def test_the_same_body_under_two_targets_is_packed_once(database: Database, bodies: Bodies) -> None:
    contents = changing_pages(2)
    await keep_days(database, bodies, contents, first=1, target=1)
    await keep_days(database, bodies, contents, first=11, target=2)
    assert (await compact(database, bodies, LATER)).pages == 2


async def test_compacting_again_finds_nothing_to_do(database: Database, bodies: Bodies) -> None:
    await keep_days(database, bodies, changing_pages(5))
    await compact(database, bodies, LATER)
    assert (await compact(database, bodies, LATER)).pages == 0


async def test_the_limit_holds_and_the_next_tick_goes_on(database: Database, bodies: Bodies) -> None:
    contents = changing_pages(7)
    await keep_days(database, bodies, contents)
    assert [(await compact(database, bodies, LATER, limit=3)).pages for _ in range(4)] == [3, 3, 1, 0]
    for content in contents:
        assert await content_of(database, bodies, content) == content


async def test_large_pages_are_taken_a_few_at_a_time(
    database: Database, bodies: Bodies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemill.store.pages.compaction.BATCH_BYTES", 70_000)
    await keep_days(database, bodies, changing_pages(7))
    assert (await compact(database, bodies, LATER)).pages == 7


async def test_a_body_that_is_lost_is_passed_over(database: Database, bodies: Bodies) -> None:
    contents = changing_pages(3)
    await keep_days(database, bodies, contents)
    async with database.write() as connection:
        await connection.execute(delete(page_bodies).where(page_bodies.c.key == key_of(contents[0])))
    assert (await compact(database, bodies, LATER)).pages == 2
    assert await content_of(database, bodies, contents[2]) == contents[2]


def key_of(content: bytes) -> bytes:
    return body_key(wire_of(content))


class OtherHand:
    """Bodies beside which something happens after the new bytes are laid and before the rows are switched."""

    def __init__(self, bodies: Bodies, deed: Callable[[], Awaitable[None]]) -> None:
        self.put, self.get, self.tidy, self.close = bodies.put, bodies.get, bodies.tidy, bodies.close
        self.outputs, self._lay = bodies.outputs, bodies.lay
        self._deeds = [deed]

    async def lay(self, packed: Sequence[Packed]) -> list[dict[str, Any]]:
        placed = await self._lay(packed)
        while self._deeds:
            await self._deeds.pop()()
        return placed


async def test_two_compactions_at_once_leave_every_page_readable(database: Database, bodies: Bodies) -> None:
    contents = changing_pages(6)
    await keep_days(database, bodies, contents)

    async def meanwhile() -> None:
        assert (await compact(database, bodies, LATER, limit=2)).pages == 2

    done = await compact(database, OtherHand(bodies, meanwhile), LATER)
    assert done.pages == 4
    for content in contents:
        assert await content_of(database, bodies, content) == content


async def test_a_root_that_retention_removed_meanwhile_is_not_leaned_on(database: Database, bodies: Bodies) -> None:
    contents = changing_pages(3)
    await keep_days(database, bodies, contents)

    async def meanwhile() -> None:
        async with database.write() as connection:
            await connection.execute(delete(page_bodies).where(page_bodies.c.key == key_of(contents[0])))

    assert (await compact(database, OtherHand(bodies, meanwhile), LATER)).pages == 0
    assert await content_of(database, bodies, contents[1]) == contents[1]


async def test_a_crash_before_the_switch_leaves_everything_as_it_was(database: Database, bodies: Bodies) -> None:
    contents = changing_pages(3)
    await keep_days(database, bodies, contents)

    async def crash() -> None:
        msg = "killed"
        raise RuntimeError(msg)

    with pytest.raises(RuntimeError, match="killed"):
        await compact(database, OtherHand(bodies, crash), LATER)
    assert {encoding for encoding, _ in await rows_of(database)} == {"gzip"}
    assert (await compact(database, bodies, LATER)).pages == 3
    assert await content_of(database, bodies, contents[2]) == contents[2]


def test_packing_is_checked_before_it_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemill.store.pages.encodings._read_out", lambda *_: b"something else")
    with pytest.raises(Unreadable, match="same bytes"):
        Packer().pack(b"content")


def test_what_is_larger_than_can_be_read_back_is_not_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemill.store.pages.encodings.LARGEST", 1_000)
    assert Packer().pack(b"x" * 1_000)
    with pytest.raises(Unreadable, match="same bytes"):
        Packer().pack(b"x" * 1_002)


async def test_segments_that_nothing_points_to_are_removed_after_a_while(
    sqlite_database: Database, segments: Path
) -> None:
    before = bodies_for(sqlite_database)
    contents = changing_pages(5)
    await keep_days(sqlite_database, before, contents)
    await before.close()
    after = bodies_for(sqlite_database)
    assert (await compact(sqlite_database, after, LATER)).freed_bytes == 0
    assert segment_numbers(segments) == [1, 2]  # a reader may still be on its way to it
    freed = (await compact(sqlite_database, after, LATER + timedelta(hours=1))).freed_bytes
    assert freed > 5_000
    assert segment_numbers(segments) == [2]
    assert await content_of(sqlite_database, after, contents[4]) == contents[4]
    await after.close()


async def test_a_segment_that_somebody_may_still_write_to_stays(sqlite_database: Database, segments: Path) -> None:
    writing, compacting = bodies_for(sqlite_database), bodies_for(sqlite_database)
    await keep_days(sqlite_database, writing, changing_pages(3))
    await compact(sqlite_database, compacting, LATER)
    await compact(sqlite_database, compacting, LATER + timedelta(hours=1))
    assert segment_numbers(segments) == [1, 2]
    await writing.close()
    await compact(sqlite_database, compacting, LATER + timedelta(hours=2))
    await compact(sqlite_database, compacting, LATER + timedelta(hours=3))
    assert segment_numbers(segments) == [2]
    await compacting.close()


async def test_numbers_of_removed_segments_are_never_used_again(sqlite_database: Database, segments: Path) -> None:
    first = bodies_for(sqlite_database)
    await keep_days(sqlite_database, first, changing_pages(1))
    await first.close()
    async with sqlite_database.write() as connection:
        await connection.execute(delete(page_bodies))
    second = bodies_for(sqlite_database)
    await second.tidy(LATER)
    await second.tidy(LATER + DAY)
    await keep_days(sqlite_database, second, changing_pages(2)[1:], first=2)
    assert segment_numbers(segments) == [1, 2]
    await second.close()


async def test_what_is_left_in_a_mostly_empty_segment_moves_out(sqlite_database: Database, segments: Path) -> None:
    first = bodies_for(sqlite_database)
    contents = changing_pages(5)
    await keep_days(sqlite_database, first, contents)
    await first.close()
    second = bodies_for(sqlite_database)
    await keep_days(sqlite_database, second, [b"another"], first=10)
    async with sqlite_database.write() as connection:
        most = [body_key(wire_of(content)) for content in contents[:4]]
        await connection.execute(delete(page_bodies).where(page_bodies.c.key.in_(most)))
    for hour in range(3):
        await second.tidy(LATER + timedelta(hours=hour))
    assert 1 not in segment_numbers(segments)
    assert await content_of(sqlite_database, second, contents[4]) == contents[4]
    await second.close()


def leave_half_a_segment(segments: Path) -> None:
    segments.mkdir()
    segment_path(segments, 1).write_bytes(b"TMb1half a record that nobody ever pointed at")


async def test_a_half_written_segment_of_a_dead_process_is_ignored_and_goes(
    sqlite_database: Database, segments: Path
) -> None:
    bodies = bodies_for(sqlite_database)
    contents = changing_pages(3)
    leave_half_a_segment(segments)
    await keep_days(sqlite_database, bodies, contents)
    assert (await compact(sqlite_database, bodies, LATER)).pages == 3
    await compact(sqlite_database, bodies, LATER + timedelta(hours=1))
    assert 1 not in segment_numbers(segments)
    assert await content_of(sqlite_database, bodies, contents[0]) == contents[0]
    await bodies.close()


async def test_damage_to_a_root_costs_only_those_that_lean_on_it(sqlite_database: Database) -> None:
    bodies = bodies_for(sqlite_database)
    contents = changing_pages(22)
    await keep_days(sqlite_database, bodies, contents)
    await compact(sqlite_database, bodies, LATER)
    await bodies.close()
    async with sqlite_database.write() as connection:
        await connection.execute(update(page_bodies).where(page_bodies.c.key == key_of(contents[0])).values(place=3))
    again = bodies_for(sqlite_database)
    lost = [content for content in contents if await content_of(sqlite_database, again, content) is None]
    assert 1 <= len(lost) <= 20
    assert contents[21] not in lost
    await again.close()
