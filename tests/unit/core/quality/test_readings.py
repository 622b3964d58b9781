"""A reading beside the last good one, and which fields of a record it may replace."""

import pytest

from tidemill.core.quality.readings import FieldRules, ReadingShape, keep_richer, poorer_reading, shape_of

pytestmark = pytest.mark.shows("P3b")

GOOD = ReadingShape("json-ld", 10, {"title": 10, "place": 10, "image": 4})


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (ReadingShape("json-ld", 10, {"title": 10, "place": 8, "image": 2}), None),
        (ReadingShape("heuristics", 10, {"title": 10, "place": 10, "image": 4}), "by heuristics, before by json-ld"),
        (ReadingShape("json-ld", 10, {"title": 10, "place": 7, "image": 4}), "place (100% before, 70% now)"),
        (ReadingShape("json-ld", 10, {"title": 10, "place": 10}), "image (40% before, 0% now)"),
        (ReadingShape("dataset", 10, {"title": 10, "place": 10, "image": 4}), None),
        (ReadingShape("json-ld", 3), None),
        (None, None),
    ],
)  # fmt: skip
def test_a_lower_rung_or_thirty_points_less_of_a_field_is_worse(now: ReadingShape | None, said: str | None) -> None:
    poorer = poorer_reading(now, GOOD)
    assert (said is None) == (poorer is None)
    assert said is None or (poorer is not None and said in poorer.detail)


def test_chance_takes_a_field_from_two_of_five_records() -> None:
    before, after = ReadingShape("json-ld", 5, {"image": 5}), ReadingShape("json-ld", 5, {"image": 3})
    assert poorer_reading(after, before) is None
    assert poorer_reading(ReadingShape("json-ld", 5, {"image": 1}), before) is not None


def test_few_records_keep_their_strategy_only_and_none_nothing() -> None:
    assert shape_of("json-ld", 4, {"title": 4}) == ReadingShape("json-ld", 4)
    assert shape_of("", 0, {}) is None


RULES = FieldRules(moving=("price",), stands_in={"venue": ("place", "name")})
STORED = {"title": "Jazz", "price": 10, "venue": "Hall 5", "place": {"name": "Hall 5", "city": ""}, "image": "a.png"}


def test_a_weaker_strategy_fills_gaps_and_replaces_only_what_moves() -> None:
    read = {"title": "JAZZ!", "price": 12, "venue": "Town", "place": {"name": "", "city": "Town"}, "image": None}
    assert keep_richer(STORED, read, RULES, is_weaker=True) == {
        **STORED, "price": 12, "place": {"name": "Hall 5", "city": "Town"},
    }  # fmt: skip


def test_the_same_strategy_replaces_and_takes_nothing_away() -> None:
    read = {"title": "Jazz II", "price": 12, "venue": "Town", "place": {"name": "", "city": "Town"}, "image": None}
    kept = keep_richer(STORED, read, RULES, is_weaker=False)
    assert (kept["title"], kept["image"], kept["venue"]) == ("Jazz II", "a.png", "Hall 5")
