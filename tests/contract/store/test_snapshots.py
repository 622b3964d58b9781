import asyncio
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import text

from rig.clock import NOON
from rig.streamed import VERTICAL, TallyWriter
from tidemill.core.live.change import ChangeKind, Provenance, ThingKey
from tidemill.core.snapshots.canonical import BadState, canonical, checksum
from tidemill.core.snapshots.changes import ThingLabels
from tidemill.core.snapshots.patches import merge
from tidemill.pipeline.ports import StoreError
from tidemill.store.database.database import open_database
from tidemill.store.records.live import SequenceTaken
from tidemill.store.snapshots.epochs import Epochs
from tidemill.store.snapshots.log import SnapshotLog
from tidemill.store.snapshots.reads import SnapshotReads

pytestmark = pytest.mark.shows("M3", "X8")


@pytest.fixture
def writer(database):
    return TallyWriter(database)


@pytest.fixture
def reads(database):
    return SnapshotReads(database)


@pytest.mark.inventory(79, 80)
async def test_the_newest_state_is_kept_with_its_checksum_labels_and_provenance(database, reads):
    log = SnapshotLog(database, {VERTICAL: lambda state: ThingLabels(state["status"], "cup")})
    writer = TallyWriter(database, log)
    origin = {"score": Provenance("site", 0.9, NOON)}
    await writer.score("a", 1)
    await writer.score("a", 2, NOON + timedelta(seconds=5), provenance=origin)
    found = await reads.latest(VERTICAL, "a")
    assert found.state == writer.states["a"]
    assert found.checksum == checksum(canonical(writer.states["a"]))
    assert (found.seq, found.offset, found.labels) == (2, 2, ThingLabels("live", "cup"))
    assert found.changed_at == found.checked_at == NOON + timedelta(seconds=5)
    assert found.provenance == origin
    assert (await log.latest([ThingKey(VERTICAL, "a"), ThingKey(VERTICAL, "b")])).keys() == {ThingKey(VERTICAL, "a")}
    assert await reads.latest(VERTICAL, "b") is None


async def test_the_log_holds_every_change_and_leads_from_nothing_to_the_newest_state(writer, reads):
    for points in range(1, 12):
        await writer.score("a", points)
    await writer.write("a", {"status": "over"}, kind=ChangeKind.CORRECTION, reason="taken back", was={"score": 11})
    entries = await reads.changes(_number("a"), 0, 100)
    assert [entry.seq for entry in entries] == list(range(1, 13))
    state: dict[str, Any] = {}
    for entry in entries:
        state = merge(state, msgspec.json.decode(entry.patch))
        assert checksum(canonical(state)) == entry.checksum
    assert state == {"status": "over"}
    assert (entries[-1].kind, entries[-1].reason, entries[-1].was) == ("correction", "taken back", '{"score":11}')
    assert [entry.seq for entry in await reads.changes(_number("a"), 4, 3)] == [5, 6, 7]


@pytest.mark.inventory(81)
async def test_the_last_five_snapshots_are_kept_whole(writer, reads):
    for points in range(1, 9):
        await writer.score("a", points)
        await writer.score("b", points)
    await writer.move("a", "ACTIVE", "PAUSED")  # no new state
    kept = await reads.history(VERTICAL, "a")
    assert [seq for seq, _ in kept] == [8, 7, 6, 5, 4]
    assert kept[0][1] == canonical(writer.states["a"])
    assert len(await reads.history(VERTICAL, "b")) == 5


async def test_a_number_that_does_not_follow_is_refused_and_nothing_of_its_group_is_written(writer, reads):
    await writer.score("a", 1)
    for seq in (1, 3):
        with pytest.raises(SequenceTaken):
            await writer.append([writer.entry("b", {"x": 1}, 1), writer.entry("a", {"x": 1}, seq)])
    assert await reads.latest(VERTICAL, "b") is None
    assert await reads.head() == 1


async def test_two_owners_that_write_the_same_number_at_once_get_one_entry(database, reads):
    one, two = TallyWriter(database), TallyWriter(database)
    two._token = 50
    results = await asyncio.gather(one.score("a", 1), two.score("a", 2), return_exceptions=True)
    assert sorted(type(each).__name__ for each in results) == ["Appended", "SequenceTaken"]
    assert len(await reads.changes(_number("a"), 0, 10)) == 1


async def test_an_entry_that_is_committed_again_is_written_once_and_keeps_its_offset(writer, reads):
    entries = [writer.entry("a", {"n": number}, number) for number in (1, 2, 3)]
    [first] = await writer.append(entries[:1])
    again = await writer.append(entries)
    assert [each.offset for each in again] == [1, 2, 3]
    assert (first.offset, again[0].event) == (1, None)
    assert [each.offset for each in await writer.append(entries)] == [1, 2, 3]
    assert len(await reads.logged_after(0, 10)) == 3


async def test_a_buffer_of_changes_of_several_things_is_written_in_order_in_one_go(writer, reads):
    entries = [writer.entry(key, {"n": seq}, seq) for seq in range(1, 8) for key in ("a", "b")]
    await writer.append(entries)
    assert [(each.thing.key, each.seq) for each in await reads.logged_after(0, 100)] == [
        (entry.thing.key, entry.seq) for entry in entries
    ]
    assert [seq for seq, _ in await reads.history(VERTICAL, "a")] == [7, 6, 5, 4, 3]


async def test_a_bad_state_is_refused_with_its_place(writer):
    with pytest.raises(BadState, match="a holds NoneType"):
        await writer.write("a", {"a": None})


async def test_a_move_between_statuses_takes_a_number_and_is_no_check(writer, reads):
    await writer.score("a", 1, provenance={"score": Provenance("site", 1.0, NOON)})
    before = await reads.latest(VERTICAL, "a")
    await writer.move("a", "ACTIVE", "PAUSED", NOON + timedelta(minutes=5))
    after = await reads.latest(VERTICAL, "a")
    assert (after.seq, after.checksum, after.source) == (2, before.checksum, "site")
    assert (after.checked_at, after.changed_at) == (NOON, NOON)
    assert after.provenance == before.provenance
    moved = (await reads.logged_after(1, 10))[0]
    assert (moved.kind, moved.moved_from, moved.moved_to, moved.patch) == ("status", "ACTIVE", "PAUSED", "{}")


async def test_offsets_follow_the_order_of_commits_without_a_gap(database, reads):
    writers = [TallyWriter(database) for _ in range(4)]
    keys = "abcd"

    async def many(number):
        for points in range(1, 9):
            await writers[number].score(keys[number], points)

    await asyncio.gather(*(many(number) for number in range(4)))
    assert [each.offset for each in await reads.logged_after(0, 100)] == list(range(1, 33))
    for key in keys:
        assert [each.seq for each in await reads.changes(_number(key), 0, 99)] == list(range(1, 9))


@pytest.mark.parametrize("deed", ["UPDATE change_log SET patch = '{}'", "DELETE FROM change_log"])
async def test_the_log_only_grows_whoever_asks(database, writer, reads, deed):
    await writer.score("a", 1)
    with pytest.raises(StoreError, match="only grows"):
        async with database.write() as connection:
            await connection.execute(text(deed))
    assert await reads.head() == 1


async def test_things_are_listed_by_status_and_group_in_pages(database, reads):
    log = SnapshotLog(database, {VERTICAL: lambda state: ThingLabels(state["status"], state.get("cup", ""))})
    writer = TallyWriter(database, log)
    for key in "dbca":
        await writer.write(key, {"status": "live" if key in "abc" else "over", "cup": "x" if key in "ad" else "y"})

    async def keys(status=None, group=None, after="", limit=10):
        found = await reads.listed(VERTICAL, status=status, group=group, after=after, limit=limit)
        return "".join(each.thing.key for each in found)

    assert await keys() == "abcd"
    assert await keys(limit=2) == "ab"
    assert await keys(after="b") == "cd"
    assert await keys(status="live") == "abc"
    assert await keys(status="live", group="y") == "bc"
    assert await keys(status="LIVE") == ""


async def test_the_epoch_is_made_once_and_kept(database, clock, writer):
    first = await Epochs(database, clock).open()
    await writer.score("a", 1)
    again = await Epochs(database, clock).open()
    assert len(first.epoch) == 8
    assert again.epoch == first.epoch
    assert (first.offset, again.offset) == (0, 1)
    assert await Epochs(database, clock).head() == again


async def test_a_log_that_is_behind_what_readers_were_told_gets_a_new_epoch(database, clock, writer):
    await writer.score("a", 1)
    epochs = Epochs(database, clock)
    opened = await epochs.open()
    seen = msgspec.structs.replace(opened, offset=5)
    renewed = await epochs.open(seen)
    assert (renewed.epoch != opened.epoch, renewed.offset) == (True, 1)


async def test_a_restored_sqlite_file_gets_a_new_epoch(sqlite_database, clock, tmp_path, migrated_sqlite_url):
    writer, epochs = TallyWriter(sqlite_database), Epochs(sqlite_database, clock)
    await writer.score("a", 1)
    opened = await epochs.open()
    async with sqlite_database.between_writes() as connection:
        await connection.execute(text(f"VACUUM INTO '{tmp_path / 'backup.db'}'"))
    await writer.score("a", 2)
    epochs.note(msgspec.structs.replace(opened, offset=2))
    await sqlite_database.close()

    file = tmp_path / "tidemill.db"
    file.write_bytes((tmp_path / "backup.db").read_bytes())  # onto the same file
    for wal in tmp_path.glob("tidemill.db-*"):
        wal.unlink()
    restored = open_database(migrated_sqlite_url)
    try:
        renewed = await Epochs(restored, clock).open()
        assert (renewed.offset, renewed.epoch != opened.epoch) == (1, True)
        assert (await Epochs(restored, clock).open()).epoch == renewed.epoch
    finally:
        await restored.close()


async def test_a_restored_postgresql_table_gets_a_new_epoch(migrated_postgres_url, clock):
    database = open_database(migrated_postgres_url)
    try:
        writer, epochs = TallyWriter(database), Epochs(database, clock)
        await writer.score("a", 1)
        opened = await epochs.open()
        async with database.write() as connection:  # what restoring a dump into the same database does
            await connection.execute(text("CREATE TABLE restored (LIKE change_log INCLUDING ALL)"))
            await connection.execute(text("INSERT INTO restored SELECT * FROM change_log"))
            await connection.execute(text("DROP TABLE change_log"))
            await connection.execute(text("ALTER TABLE restored RENAME TO change_log"))
        assert (await Epochs(database, clock).open()).epoch != opened.epoch
    finally:
        await database.close()


def _number(key):
    return int.from_bytes(key.encode()[-6:], "big")
