import gzip
import time
import zlib
from typing import Any

import brotli
import pytest
import zstandard

from tidemill.core.failure import Failure
from tidemill.fetching.decoding import EXPANDS_FREELY, MOST_LAYERS, MOST_MEMBERS, decode

pytestmark = pytest.mark.shows("F1")

PAGE = b"<html>" + b"<p>vrijdag 20 november, 20:15</p>" * 500
LIMIT = 10_000_000


def raw_deflate(data: bytes) -> bytes:
    squeezer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return squeezer.compress(data) + squeezer.flush()


ENCODED = {
    "gzip": gzip.compress(PAGE),
    "deflate": zlib.compress(PAGE),
    "br": brotli.compress(PAGE),
    "zstd": zstandard.compress(PAGE),
}


@pytest.mark.parametrize("encoding", ENCODED)
def test_each_encoding_is_undone_and_kept_as_it_came(encoding: str) -> None:
    decoded = decode(ENCODED[encoding], encoding, LIMIT)
    assert (decoded.content, decoded.stored, decoded.stored_as) == (PAGE, ENCODED[encoding], encoding)
    assert decoded.cut is None


@pytest.mark.parametrize("encoding", ENCODED)
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_body_without_its_end_is_truncated(encoding: str, share: float) -> None:
    wire = ENCODED[encoding]
    decoded = decode(wire[: int(len(wire) * share)], encoding, LIMIT)
    assert decoded.cut is Failure.TRUNCATED_BODY
    assert PAGE.startswith(decoded.content)
    assert decoded.stored_as == ""


def test_a_gzip_body_that_lacks_only_its_last_byte_is_truncated() -> None:
    decoded = decode(ENCODED["gzip"][:-1], "gzip", LIMIT)
    assert (decoded.cut, decoded.content) == (Failure.TRUNCATED_BODY, PAGE)


@pytest.mark.parametrize("encoding", ENCODED)
def test_two_hundred_megabytes_behind_a_small_body_are_cut_at_the_limit(encoding: str) -> None:
    bomb = bomb_of(encoding, 200)
    assert len(bomb) < 1_000_000
    decoded = decode(bomb, encoding, 1_000_000)
    assert decoded.cut is Failure.TOO_LARGE
    assert len(decoded.content) == 1_000_000


@pytest.mark.parametrize("encoding", ENCODED)
def test_a_body_of_just_the_limit_is_whole_and_one_byte_more_is_too_much(encoding: str) -> None:
    assert decode(ENCODED[encoding], encoding, len(PAGE)).cut is None
    assert decode(ENCODED[encoding], encoding, len(PAGE)).content == PAGE
    over = decode(ENCODED[encoding], encoding, len(PAGE) - 1)
    assert (over.cut, over.content) == (Failure.TOO_LARGE, PAGE[:-1])


def test_a_second_member_of_gzip_counts_against_what_the_first_has_left() -> None:
    twice = gzip.compress(b"ab") + gzip.compress(b"c")
    assert decode(twice, "gzip", 3).content == b"abc"
    assert decode(twice, "gzip", 2).cut is Failure.TOO_LARGE


def bomb_of(encoding: str, megabytes: int) -> bytes:
    """Zeros in an encoding, made piece by piece so that they are never all in memory."""
    piece = bytes(1 << 20)
    if encoding == "br":
        squeezer = brotli.Compressor(quality=1)
        return b"".join([squeezer.process(piece) for _ in range(megabytes)]) + squeezer.finish()
    stream: Any
    if encoding == "zstd":
        stream = zstandard.ZstdCompressor().compressobj()
    else:
        stream = zlib.compressobj(wbits=31 if encoding == "gzip" else zlib.MAX_WBITS)
    return b"".join([stream.compress(piece) for _ in range(megabytes)]) + stream.flush()


@pytest.mark.parametrize("encoding", ENCODED)
def test_a_body_of_exactly_the_limit_is_whole(encoding: str) -> None:
    assert decode(ENCODED[encoding], encoding, len(PAGE)).cut is None
    assert decode(ENCODED[encoding], encoding, len(PAGE) - 1).cut is Failure.TOO_LARGE


def test_deflate_without_its_header_is_read_too_and_kept_decoded() -> None:
    decoded = decode(raw_deflate(PAGE), "deflate", LIMIT)
    assert (decoded.content, decoded.stored, decoded.stored_as) == (PAGE, PAGE, "")


def test_two_layers_are_undone_in_turn() -> None:
    decoded = decode(brotli.compress(gzip.compress(PAGE)), "gzip, br", LIMIT)
    assert (decoded.content, decoded.stored_as) == (PAGE, "")


def test_several_gzip_members_are_one_body_and_what_follows_them_is_ignored() -> None:
    assert decode(gzip.compress(b"one ") + gzip.compress(b"two") + b"junk", "gzip", LIMIT).content == b"one two"
    bomb = decode(gzip.compress(PAGE) * 3, "gzip", len(PAGE) * 2)
    assert (bomb.cut, len(bomb.content)) == (Failure.TOO_LARGE, len(PAGE) * 2)


def test_several_zstd_frames_are_one_body_and_what_follows_them_is_ignored() -> None:
    one, two = zstandard.compress(b"one "), zstandard.compress(b"two")
    decoded = decode(one + two, "zstd", LIMIT)
    assert (decoded.content, decoded.stored, decoded.cut) == (b"one two", b"one two", None)
    assert (decode(one + b"junk", "zstd", LIMIT).content, decode(one + b"junk", "zstd", LIMIT).cut) == (b"one ", None)
    bomb = decode(zstandard.compress(PAGE) * 3, "zstd", len(PAGE) * 2)
    assert (bomb.cut, len(bomb.content)) == (Failure.TOO_LARGE, len(PAGE) * 2)


def test_a_later_zstd_frame_that_is_cut_or_broken_cuts_the_body() -> None:
    two = zstandard.compress(b"one ") + zstandard.compress(PAGE)
    assert decode(two[:-3], "zstd", LIMIT).cut is Failure.TRUNCATED_BODY
    assert decode(two[:-20] + bytes(20), "zstd", LIMIT).cut is Failure.TRUNCATED_BODY


def test_more_zstd_frames_than_any_server_makes_are_refused() -> None:
    assert decode(zstandard.compress(b"") * 400_000, "zstd", LIMIT).cut is Failure.TOO_LARGE


@pytest.mark.parametrize("encoding", ["", "identity", "none", "UTF-8", "rot13"])
def test_what_is_no_encoding_is_left_as_it_is(encoding: str) -> None:
    decoded = decode(PAGE, encoding, LIMIT)
    assert (decoded.content, decoded.stored, decoded.stored_as, decoded.cut) == (PAGE, PAGE, "", None)


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "zstd"])
def test_a_plain_body_that_claims_an_encoding_is_plain(encoding: str) -> None:
    decoded = decode(PAGE, encoding, LIMIT)
    assert (decoded.content, decoded.stored_as, decoded.cut) == (PAGE, "", None)


@pytest.mark.parametrize("encoding", ENCODED)
def test_a_corrupted_body_is_not_taken_for_content(encoding: str) -> None:
    wire = ENCODED[encoding]
    spoilt = wire[: len(wire) // 2] + bytes(byte ^ 0xFF for byte in wire[len(wire) // 2 :])
    assert decode(spoilt, encoding, LIMIT).cut is Failure.TRUNCATED_BODY


@pytest.mark.parametrize("encoding", [*ENCODED, ""])
def test_an_empty_body_is_empty_in_every_encoding(encoding: str) -> None:
    assert decode(b"", encoding, LIMIT).content == b""


def test_ten_megabytes_of_empty_gzip_members_are_refused_at_once() -> None:
    """Copying what is left once per member took a minute of the event loop."""
    members = gzip.compress(b"") * 500_000
    began = time.process_time()
    decoded = decode(members, "gzip", LIMIT)
    assert time.process_time() - began < 5
    assert (decoded.cut, decoded.content) == (Failure.TOO_LARGE, b"")


def test_as_many_gzip_members_as_are_allowed_are_one_body() -> None:
    decoded = decode(gzip.compress(b"part ") * MOST_MEMBERS, "gzip", LIMIT)
    assert (decoded.cut, decoded.content) == (None, b"part " * MOST_MEMBERS)
    assert decode(gzip.compress(b"part ") * (MOST_MEMBERS + 1), "gzip", LIMIT).cut is Failure.TOO_LARGE


def test_large_gzip_members_are_read_across_their_pieces() -> None:
    large = bytes(range(256)) * 3_000
    packed = gzip.compress(large, compresslevel=0)
    assert decode(packed * 2 + b"junk", "gzip", LIMIT).content == large * 2
    assert decode(packed * 2, "gzip", len(large) * 2 - 1).cut is Failure.TOO_LARGE
    assert decode((packed * 2)[:-9], "gzip", LIMIT).cut is Failure.TRUNCATED_BODY


def test_a_gzip_member_that_is_corrupted_cuts_the_body_there() -> None:
    decoded = decode(gzip.compress(PAGE) + gzip.compress(PAGE)[:10] + b"\xff" * 99, "gzip", LIMIT)
    assert decoded.cut is Failure.TRUNCATED_BODY
    assert decoded.content.startswith(PAGE)


@pytest.mark.parametrize("encoding", ENCODED)
def test_content_out_of_all_proportion_to_its_body_is_a_bomb(encoding: str) -> None:
    assert decode(bomb_of(encoding, 1), encoding, LIMIT).cut is None, "a megabyte is none, however small its body"
    decoded = decode(bomb_of(encoding, 5), encoding, LIMIT)
    assert (decoded.cut, len(decoded.content)) == (Failure.TOO_LARGE, 5 * EXPANDS_FREELY)


def test_an_encoding_on_top_of_itself_a_thousand_times_is_not_undone() -> None:
    wrapped = PAGE
    for _ in range(MOST_LAYERS):
        wrapped = gzip.compress(wrapped)
    assert decode(wrapped, ", ".join(["gzip"] * MOST_LAYERS), LIMIT).content == PAGE
    assert decode(gzip.compress(wrapped), ", ".join(["gzip"] * 1_000), LIMIT).cut is Failure.TOO_LARGE
