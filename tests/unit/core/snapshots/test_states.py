import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill.core.snapshots.canonical import DEEPEST, LARGEST_STATE, BadState, canonical, checksum
from tidemill.core.snapshots.changes import NOTHING, ThingLabels, encode_state, patch_between, plain_labels
from tidemill.core.snapshots.cursors import StreamCursor, parse_cursor
from tidemill.core.snapshots.patches import diff, merge

pytestmark = pytest.mark.shows("M3", "X8")

leaves = st.one_of(st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), st.text(max_size=8))
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcé", min_size=1, max_size=3), inner),
    max_leaves=12,
)
states = st.dictionaries(st.text("abcdé", min_size=1, max_size=3), values, max_size=6)


def test_canonical_json_has_sorted_keys_no_spaces_and_whole_numbers_without_a_point():
    state = {"score": {"runs": 20.0, "over": 12.3}, "balls": ("1", "2"), "at": True, "ä": "\x01\u2028é"}
    expected = '{"at":true,"balls":["1","2"],"score":{"over":12.3,"runs":20},"ä":"\\u0001\u2028é"}'
    assert canonical(state) == expected.encode()
    assert checksum(canonical(state)) == hashlib.sha256(expected.encode()).hexdigest()


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"a": None}, "a holds NoneType; leave out"),
        ({"a": {"b": [1, None]}}, r"a.b\[1\] holds NoneType"),
        ({"a": 2**53}, "a is beyond"),
        ({"a": float("nan")}, "a is a number that languages write differently"),
        ({"a": 1e-7}, "a is a number"),
        ({"a": 1e22}, "a is a number"),
        ({"a": b"bytes"}, "a holds"),
        ({"a": "\ud800"}, "half of a character"),
        ({"": 1}, "the state has a key"),
        ({"x" * 201: 1}, "the state has a key"),
        ({"\uffff": 1}, "the state has a key"),
        ({"a": "x" * LARGEST_STATE}, "bytes, more than"),
    ],
)
def test_a_state_that_has_no_canonical_json_is_refused_with_its_place(state, words):
    with pytest.raises(BadState, match=words):
        canonical(state)


def test_a_state_that_is_nested_too_deep_is_refused():
    deep: Any = {"a": 1}
    for _ in range(DEEPEST):
        deep = {"a": deep}
    with pytest.raises(BadState, match="nested deeper"):
        canonical(deep)
    wide: Any = [1]
    for _ in range(DEEPEST):
        wide = [wide]
    with pytest.raises(BadState):
        canonical({"a": wide})


@pytest.mark.inventory(83)
def test_a_patch_removes_by_null_replaces_arrays_whole_and_reaches_into_objects():
    old = {"score": {"runs": 4, "wickets": 1}, "balls": [1, 2], "toss": "India", "same": {"x": 1}}
    new = {"score": {"runs": 5, "wickets": 1}, "balls": [1, 2, 4], "same": {"x": 1}, "venue": {"city": "Pune"}}
    assert diff(old, new) == {
        "score": {"runs": 5}, "balls": [1, 2, 4], "toss": None, "venue": {"city": "Pune"},
    }  # fmt: skip
    assert merge(old, diff(old, new)) == new
    assert old["score"] == {"runs": 4, "wickets": 1}


def test_true_and_one_are_different_values():
    assert diff({"a": True, "b": [1]}, {"a": 1, "b": [True]}) == {"a": 1, "b": [True]}


@given(states, states)
def test_the_patch_between_any_two_states_leads_from_one_to_the_other(one, other):
    before, after = encode_state(one), encode_state(other)
    merged = merge(before.state, patch_between(before, after))
    assert checksum(canonical(merged)) == after.checksum


@given(states)
def test_the_first_state_is_a_patch_to_nothing(state):
    encoded = encode_state(state)
    assert merge({}, patch_between(NOTHING, encoded)) == encoded.state


@pytest.mark.parametrize(
    "text", ["", "7", "0123abcd", "0123abcd.", "0123abcd.-1", "0123abcd.07", "0123ABCD.7", "0123abcd.7x", "0123abcd.٣"]
)
def test_what_is_no_cursor_is_told_from_one(text):
    assert parse_cursor(text) is None


def test_a_cursor_reads_as_it_is_written():
    assert parse_cursor(str(StreamCursor("0123abcd", 41))) == StreamCursor("0123abcd", 41)


def test_a_status_that_is_no_text_is_no_label():
    assert plain_labels({"status": "live"}) == ThingLabels("live")
    assert plain_labels({"status": 3}) == plain_labels({}) == ThingLabels()
