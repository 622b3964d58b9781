"""Where another source's record of an event is looked for: found if it is alike, and never too many."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rig.clock import NOON
from rig.mill import event
from tidemill.verticals.events.candidates import (
    MOST_CANDIDATES,
    MOST_KEYS,
    MOST_LOOKUPS,
    leading_words,
    minute_of,
    search_of,
)
from tidemill.verticals.events.linking import known, likeness
from tidemill.verticals.events.store.candidate_rows import NO_KEYS
from tidemill.verticals.events.store.card_making import EventOnCard, candidates_of, pairs_among

pytestmark = pytest.mark.shows("E3")

WORDS = ["jazz", "koor", "avond", "kerk", "2026", "deel", "3", "concert", "élise", "markt", "voor", "kinderen"]
titles = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7, unique=True).map(" ".join)
places = st.tuples(st.floats(51.9, 52.1), st.floats(5.8, 6.1))
times = st.sampled_from(["20:00", "TBD"])


def told(title, source, place=(52.0, 5.9), starts=NOON, at="20:00"):
    made = event(title, source, starts)
    return msgspec.structs.replace(made, latitude=place[0], longitude=place[1], event_time=at)


def finds(one, other):
    """Whether looking for the first leads to the second."""
    keys, minute = search_of(other).own, minute_of(other)
    return any(each.first_minute <= minute <= each.last_minute for each in search_of(one).lookups(keys))


@given(titles, titles, places, places, st.integers(-45, 45), times, times)
def test_whatever_is_alike_is_found(one, other, here, there, minutes, at, also_at):
    first = known(1, told(one, 1, here, at=at))
    second = known(2, told(other, 2, there, NOON + timedelta(minutes=minutes), also_at))
    if likeness(first, second):
        assert finds(first, second)
        assert finds(second, first)


def test_another_day_town_number_or_hour_is_not_looked_at():
    jazz = known(1, told("Jazz in de kerk 3", 1))
    for other in (
        told("Jazz in de kerk 4", 2),
        told("Jazz in de kerk 3", 2, starts=NOON + timedelta(days=1)),
        told("Jazz in de kerk 3", 2, starts=NOON + timedelta(hours=2)),
        told("Jazz in de kerk 3", 2, place=(53.2, 6.5)),
    ):
        assert not finds(jazz, known(2, other))


@pytest.mark.parametrize(("count", "keys"), [(0, 0), (1, 1), (2, 1), (3, 2), (5, 3), (10, 5), (5_000, MOST_KEYS)])
def test_a_title_stands_under_few_keys(count, keys):
    assert len(leading_words({f"woord{number}" for number in range(count)})) == keys


@pytest.mark.parametrize("latitude", [52.0, 89.99, -90.0])
def test_lookups_are_bounded_even_at_the_poles(latitude):
    wordy = " ".join(f"woord{number}" for number in range(300))
    search = search_of(known(1, told(wordy, 1, (latitude, 5.9))))
    assert 0 < len(search.lookups(search.keys)) <= MOST_LOOKUPS


def on_cards(events):
    return {
        key: EventOnCard(
            each, about := known(key, each), NOON, None,
            msgspec.structs.replace(NO_KEYS, keys=(search := search_of(about)).own), search,
        )
        for key, each in enumerate(events, 1)
    }  # fmt: skip


def test_events_of_one_source_are_never_compared():
    assert not list(pairs_among(on_cards([told("Jazz", 1)] * 500)))


def test_each_event_is_compared_with_a_bounded_number_of_others():
    changed = on_cards([told("Jazz", source) for source in range(200)])
    assert len(list(pairs_among(changed))) == 200 * MOST_CANDIDATES
    used = {key for each in changed.values() for key in each.search.keys}
    looked = {lookup for each in changed.values() for lookup in each.search.lookups(used)}
    crowd = {lookup: [(key, 7) for key in range(1_000, 1_200)] for lookup in looked}
    assert {len(those) for those in candidates_of(changed, used, crowd).values()} <= {0, MOST_CANDIDATES}
