from hypothesis import given
from hypothesis import strategies as st

from tidemill.core.record import Found, RawRecord, Strategy
from tidemill.pipeline.kept_readings import decode_found, encode_found

words = st.text(st.characters(exclude_categories=["Cs"]))
shapes = st.sampled_from([{"title": "name"}, {"title": "h3 a", "starts": "time@datetime"}])
records = st.builds(
    RawRecord,
    fields=st.dictionaries(words, words | st.integers(-(2**53), 2**53) | st.none()),
    strategy=st.sampled_from([Strategy.MICRODATA, Strategy.SELECTORS, Strategy.HEURISTICS]),
    confidence=st.floats(0, 1),
    origin=words,
    places=shapes,
    block=words,
)
readings = st.builds(Found, records=st.lists(records), total=st.none() | st.integers(0), notes=st.lists(words))


@given(readings)
def test_a_reading_comes_back_as_it_was_stored(found):
    assert decode_found(encode_found(found)) == found


def test_what_records_share_is_stored_once_and_a_json_ld_block_not_at_all():
    places = {"title": "name", "starts": "startDate"}
    raw = [
        RawRecord(
            fields={"title": f"event {number}"}, strategy=Strategy.JSONLD, confidence=1.0,
            origin=f"json-ld/0/{number}", places=places, block='{"@type":"Event"}',
        )
        for number in range(16)
    ]  # fmt: skip
    stored = encode_found(Found(records=raw))
    assert stored.count(b"startDate") == 1
    assert b"@type" not in stored
    back = decode_found(stored).records
    assert [record.origin for record in back] == [record.origin for record in raw]
