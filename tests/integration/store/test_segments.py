"""Segment files on a real disk: what was appended in pieces comes back whole."""

import resource
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill.store.pages.segments import AT_ONCE, HEADER, SegmentReader, SegmentWriter, _after


def named(count):
    """So many records of different lengths, an empty one among them."""
    return [(number.to_bytes(16, "big"), b"%d" % number * (number % 50)) for number in range(count)]


def test_more_records_than_one_call_takes_come_back_whole(tmp_path):
    records = named(AT_ONCE + 10)  # each is two pieces
    writer, reader = SegmentWriter(tmp_path), SegmentReader(tmp_path)
    spots = writer.append(records)
    found = reader.read((key, spot) for (key, _), spot in zip(records, spots, strict=True))
    assert found == dict(records)


@given(st.lists(st.binary(max_size=9)), st.data())
def test_what_is_left_after_a_short_write_is_the_rest(parts, data):
    whole = b"".join(parts)
    written = data.draw(st.integers(0, len(whole)))
    assert b"".join(_after(parts, written)) == whole[written:]


def test_a_write_that_the_disk_cuts_short_is_written_over_by_the_next(tmp_path):
    first, large, last = (b"a" * 16, b"x" * 100), (b"b" * 16, b"y" * 10_000), (b"c" * 16, b"z" * 200)
    writer, reader = SegmentWriter(tmp_path), SegmentReader(tmp_path)
    (first_spot,) = writer.append([first])
    with a_file_may_hold(HEADER.size * 2 + 100 + 5_000), pytest.raises(OSError, match="File too large"):
        writer.append([large])
    (last_spot,) = writer.append([last])
    assert last_spot.place == HEADER.size + len(first[1])
    assert reader.read([(first[0], first_spot), (last[0], last_spot)]) == dict([first, last])


class a_file_may_hold:  # noqa: N801 - reads as a word in a with statement
    """No file of this process grows beyond so many bytes; a write is cut short there, and the next one refused."""

    def __init__(self, size):
        self._size = size

    def __enter__(self):
        self._handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._size, self._before[1]))

    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_FSIZE, self._before)
        signal.signal(signal.SIGXFSZ, self._handler)
