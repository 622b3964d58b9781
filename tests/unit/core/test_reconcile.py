from datetime import timedelta

from rig.clock import NOON
from tidemill.core.reconcile import SourceClaim, reconcile

HOUR = timedelta(hours=1)


def claim(source, precedence=50, hours=0, confidence=1.0, **fields):
    return SourceClaim(
        source=source, precedence=precedence, at=NOON + hours * HOUR, fields=fields, confidence=confidence
    )


def test_the_higher_precedence_wins_though_the_other_is_newer():
    chosen = reconcile([claim("club", 90, title="Jazz"), claim("town", 40, hours=9, title="Jazzavond")])["title"]
    assert (chosen.value, chosen.source, chosen.disagreeing) == ("Jazz", "club", ("town",))


def test_what_the_first_does_not_say_the_next_is_asked():
    chosen = reconcile([claim("club", 90, title="Jazz", image=None), claim("town", 40, image="j.jpg")])
    assert (chosen["image"].value, chosen["image"].source) == ("j.jpg", "town")


def test_among_equals_the_newer_word_counts():
    assert reconcile([claim("one", hours=1, runs=10), claim("two", hours=2, runs=12)])["runs"].value == 12


def test_who_is_not_sure_is_not_listened_to():
    assert reconcile([claim("one", 90, confidence=0.4, runs=99), claim("two", 10, runs=12)])["runs"].value == 12


def test_a_field_that_nobody_speaks_of_is_left_out():
    assert reconcile([claim("one", title="")]) == {}


def test_zero_and_no_are_words_too():
    chosen = reconcile([claim("one", 90, wickets=0, over=False), claim("two", 10, wickets=3, over=True)])
    assert (chosen["wickets"].value, chosen["over"].value) == (0, False)
