from datetime import timedelta

import msgspec
import pytest

from rig.clock import NOON
from rig.mill import event
from tidemill.verticals.events.card import Member, card_of
from tidemill.verticals.events.linking import groups, known, likeness
from tidemill.verticals.events.record import EventStatus, Precision

pytestmark = pytest.mark.shows("E3")

LATER = timedelta(hours=3)


def told(title, source=1, **changes):
    return msgspec.structs.replace(event(title, source), source_name=f"source {source}", **changes)


def alike(one, other):
    return likeness(known(1, one), known(2, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Jazz in de Kerk", "Jazz in de kerk"),
        ("Kinderdisco: Sint editie", "Kinderdisco Sint editie"),
        ("Café-concert met Élise", "Cafe concert met Elise"),
        ("UITVERKOCHT: De Dijk live", "De Dijk"),
    ],
)
def test_one_event_told_by_two_sources_is_one(one, other):
    assert alike(told(one), told(other, 2)) is not None


@pytest.mark.parametrize(
    ("other", "changes"),
    [
        ("Jazz in de Kerk", {"event_date": NOON + timedelta(days=30) + LATER, "event_time": "23:00"}),
        ("Jazz in de Kerk", {"latitude": 53.2, "longitude": 6.5}),
        ("Jazz in de Kerk", {"latitude": None, "longitude": None}),
        ("Jazz in de Kerk deel 2", {}),
        ("Blues in de Kerk", {"venue_name": "Elders"}),
        ("Rondleiding", {}),
    ],
)
def test_another_time_place_part_or_title_is_another_event(other, changes):
    assert alike(told("Jazz in de Kerk", event_time="20:00"), told(other, 2, **changes)) is None


def test_two_events_of_one_source_are_never_one():
    assert alike(told("Jazz"), told("Jazz")) is None


def test_venues_known_to_the_street_must_be_near():
    exact = {"location_precision": Precision.VENUE}
    far = {"latitude": 52.05, **exact}
    assert alike(told("Jazz", **exact), told("Jazz", 2, **far)) is None
    assert alike(told("Jazz"), told("Jazz", 2, latitude=52.05)) is not None


def test_a_group_holds_one_event_of_each_source():
    members = [known(key, told("Jazz", source)) for key, source in ((1, 1), (2, 2), (3, 2))]
    assert groups(members, [(1, 2), (1, 3)]) == [[1, 2], [3]]


def member(key, title, precedence=50, hours=0, **changes):
    made = told(title, key, **changes)
    at = NOON + timedelta(hours=hours)
    return Member(event_id=key, event=made, precedence=precedence, reliability=0.9, updated_at=at)


def test_a_card_takes_each_field_from_the_weightiest_source_that_has_it():
    card = card_of([
        member(1, "Jazz!", 90, description="", image_url="https://a.test/j.jpg"),
        member(2, "Jazzavond", 40, description="Een avond jazz.", image_url="https://b.test/k.jpg"),
    ])  # fmt: skip
    assert (card.event.title, card.event.description) == ("Jazz!", "Een avond jazz.")
    assert card.event.image_url == "https://a.test/j.jpg"
    assert (card.provenance["title"].source, card.provenance["title"].against) == ("source 1", ("source 2",))
    assert card.provenance["description"].source == "source 2"
    assert (list(card.members), list(card.sources)) == ([1, 2], ["source 1", "source 2"])


def test_coordinates_come_from_whoever_knows_the_venue():
    card = card_of([
        member(1, "Jazz", 90, latitude=52.0),
        member(2, "Jazz", 10, latitude=52.01, location_precision=Precision.VENUE),
    ])  # fmt: skip
    assert (card.event.latitude, card.provenance["coordinates"].source) == (52.01, "source 2")


def test_it_is_cancelled_only_when_nobody_shows_it_any_more():
    cancelled = member(1, "Jazz", 90, status=EventStatus.CANCELLED)
    card = card_of([cancelled, member(2, "Jazz", 10)])
    assert card.event.status is EventStatus.SCHEDULED
    assert card.provenance["status"].against == ("source 1",)
    both = card_of([cancelled, member(2, "Jazz", 10, status=EventStatus.CANCELLED)])
    assert both.event.status is EventStatus.CANCELLED
