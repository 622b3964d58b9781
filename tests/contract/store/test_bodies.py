import gzip
import os
import signal
import sys
import zlib
from asyncio import create_subprocess_exec
from pathlib import Path

import brotli
import pytest
import zstandard
from sqlalchemy import func, select

from tidemill.pipeline.ports import StoreLost
from tidemill.store.database.database import Database
from tidemill.store.pages.bodies import Bodies, Body, SegmentBodies, bodies_for, body_key
from tidemill.store.pages.segments import segment_numbers, segment_path
from tidemill.store.schema import page_bodies

PAGE = b"<html><body>" + b"<p>Jazz in het Park, 20:00</p>" * 900 + b"</body></html>"


def a_body(wire: bytes, encoding: str = "") -> Body:
    return Body(body_key(wire), wire, encoding)


async def keep(database: Database, bodies: Bodies, *those: Body) -> None:
    async with database.write() as connection:
        await bodies.put(connection, those)


async def ask(database: Database, bodies: Bodies, *keys: bytes) -> dict[bytes, bytes]:
    async with database.read() as connection:
        return await bodies.get(connection, keys)


async def kept(database: Database) -> int:
    async with database.read() as connection:
        return (await connection.execute(select(func.count()).select_from(page_bodies))).scalar_one()


@pytest.mark.shows("F7")
@pytest.mark.parametrize(
    ("encoding", "wire"),
    [
        ("", PAGE),
        ("gzip", gzip.compress(PAGE)),
        ("gzip", gzip.compress(PAGE[:100]) + gzip.compress(PAGE[100:])),
        ("deflate", zlib.compress(PAGE)),
        ("deflate", zlib.compress(PAGE, wbits=-15)),
        ("br", brotli.compress(PAGE)),
        ("zstd", zstandard.compress(PAGE)),
    ],
    ids=["plain", "gzip", "gzip-in-two", "zlib", "deflate", "brotli", "zstd"],
)
async def test_a_body_comes_back_as_content_whatever_it_was_sent_in(
    database: Database, bodies: Bodies, encoding: str, wire: bytes
) -> None:
    body = a_body(wire, encoding)
    await keep(database, bodies, body)
    assert await ask(database, bodies, body.key) == {body.key: PAGE}


@pytest.mark.shows("F7")
async def test_the_same_body_is_kept_once_within_a_batch_and_across_batches(database: Database, bodies: Bodies) -> None:
    body, other = a_body(PAGE), a_body(PAGE + b"!")
    await keep(database, bodies, body, body)
    await keep(database, bodies, other, body)
    assert await kept(database) == 2
    assert await ask(database, bodies, body.key, other.key) == {body.key: PAGE, other.key: PAGE + b"!"}


async def test_nothing_to_keep_is_nothing_to_do(database: Database, bodies: Bodies) -> None:
    await keep(database, bodies)
    assert await ask(database, bodies) == {}


async def test_an_unknown_key_is_not_in_the_answer(database: Database, bodies: Bodies) -> None:
    assert await ask(database, bodies, b"x" * 16) == {}


async def test_a_body_that_is_not_what_it_says_is_not_in_the_answer(database: Database, bodies: Bodies) -> None:
    body = a_body(b"plain text", "gzip")
    await keep(database, bodies, body)
    assert await ask(database, bodies, body.key) == {}


async def test_a_body_that_was_cut_short_gives_what_there_is(database: Database, bodies: Bodies) -> None:
    body = a_body(gzip.compress(PAGE)[:-40], "gzip")
    await keep(database, bodies, body)
    content = (await ask(database, bodies, body.key))[body.key]
    assert content
    assert PAGE.startswith(content)


async def test_a_small_body_that_unpacks_to_too_much_is_not_unpacked(
    database: Database, bodies: Bodies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemill.store.pages.encodings.LARGEST", 1_000)
    packed = [
        a_body(gzip.compress(PAGE), "gzip"),
        a_body(brotli.compress(PAGE), "br"),
        a_body(zstandard.compress(PAGE), "zstd"),
    ]
    await keep(database, bodies, *packed)
    assert await ask(database, bodies, *(body.key for body in packed)) == {}


async def test_a_transaction_that_fails_keeps_nothing(database: Database, bodies: Bodies) -> None:
    body = a_body(PAGE)

    async def fail_after_keeping() -> None:
        async with database.write() as connection:
            await bodies.put(connection, [body])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_after_keeping()
    assert await kept(database) == 0
    await keep(database, bodies, body)
    assert await ask(database, bodies, body.key) == {body.key: PAGE}


async def test_two_keepers_on_one_file_never_write_into_the_same_segment(
    sqlite_database: Database, segments: Path
) -> None:
    first, second = bodies_for(sqlite_database), bodies_for(sqlite_database)
    one, two = a_body(PAGE), a_body(PAGE + b"2")
    await keep(sqlite_database, first, one)
    await keep(sqlite_database, second, two)
    assert segment_numbers(segments) == [1, 2]
    assert await ask(sqlite_database, first, one.key, two.key) == {one.key: PAGE, two.key: PAGE + b"2"}
    await first.close()
    await second.close()


async def test_a_restart_begins_a_segment_of_its_own_and_reads_the_old_ones(
    sqlite_database: Database, segments: Path
) -> None:
    before = bodies_for(sqlite_database)
    one, two = a_body(PAGE), a_body(PAGE + b"2")
    await keep(sqlite_database, before, one)
    await before.close()
    with segment_path(segments, 1).open("ab") as torn:
        torn.write(b"TMb1 half a rec")
    after = bodies_for(sqlite_database)
    await keep(sqlite_database, after, two)
    assert segment_numbers(segments) == [1, 2]
    assert len(await ask(sqlite_database, after, one.key, two.key)) == 2
    await after.close()


@pytest.mark.parametrize("damage", ["flipped", "cut", "gone"])
async def test_a_damaged_record_is_not_in_the_answer_and_its_neighbours_are(
    sqlite_database: Database, segments: Path, damage: str
) -> None:
    writing = bodies_for(sqlite_database)
    whole, hurt = sorted((a_body(PAGE), a_body(PAGE + b"2")), key=lambda body: body.key)
    await keep(sqlite_database, writing, whole, hurt)
    await writing.close()
    path = segment_path(segments, 1)
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:-1] if damage == "cut" else content[:-1] + b"\x00")
    reading = bodies_for(sqlite_database)
    expected = {} if damage == "gone" else {whole.key: whole.wire}
    assert await ask(sqlite_database, reading, whole.key, hurt.key) == expected
    await reading.close()


async def test_a_full_segment_is_followed_by_another(
    sqlite_database: Database, segments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemill.store.pages.segments.OPEN_FILES", 2)
    bodies = SegmentBodies(sqlite_database, segments)
    bodies._fresh._roll_at = 1
    those = [a_body(PAGE + str(number).encode()) for number in range(4)]
    for body in those:
        await keep(sqlite_database, bodies, body)
    assert segment_numbers(segments) == [1, 2, 3, 4]
    assert len(await ask(sqlite_database, bodies, *(body.key for body in those))) == 4
    await bodies.close()


KILLED = """
import asyncio, os, signal, sys
from tidemill.pipeline.ports import StoreLost
from tidemill.store.pages.bodies import Body, bodies_for, body_key
from tidemill.store.database.database import open_database

async def main():
    database = open_database(sys.argv[1])
    bodies = bodies_for(database)
    async with database.write() as connection:
        await bodies.put(connection, [Body(body_key(b"kept"), b"kept")])
    async with database.write() as connection:
        await bodies.put(connection, [Body(body_key(b"lost"), b"lost")])
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_a_process_killed_between_bytes_and_row_loses_only_what_was_not_committed(
    sqlite_database: Database, sqlite_url: str
) -> None:
    process = await create_subprocess_exec(sys.executable, "-c", KILLED, sqlite_url)
    assert await process.wait() == -signal.SIGKILL
    bodies = bodies_for(sqlite_database)
    keys = [body_key(b"kept"), body_key(b"lost")]
    assert await ask(sqlite_database, bodies, *keys) == {keys[0]: b"kept"}
    await keep(sqlite_database, bodies, a_body(b"lost"))
    assert await ask(sqlite_database, bodies, *keys) == {keys[0]: b"kept", keys[1]: b"lost"}
    await bodies.close()


async def test_a_full_disk_is_said_in_words_and_the_next_try_goes_through(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = bodies_for(sqlite_database)
    body = a_body(PAGE)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "pwritev", full)
        with pytest.raises(StoreLost, match="disk is full"):
            await keep(sqlite_database, bodies, body)
    await keep(sqlite_database, bodies, body)
    assert await ask(sqlite_database, bodies, body.key) == {body.key: PAGE}
    await bodies.close()
