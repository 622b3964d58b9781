"""The ten categories, by rules in Dutch and English."""

import re

import pytest

from tidemill.verticals.events import categories
from tidemill.verticals.events.categories import category_of, category_of_section
from tidemill.verticals.events.record import Category


@pytest.mark.shows("E1")
@pytest.mark.parametrize(
    ("title", "category"),
    [
        ("Jazzconcert in de kerk", Category.MUSIC),
        ("Symphony orchestra plays Mahler", Category.MUSIC),
        ("Kinderworkshop knutselen", Category.FAMILY),
        ("Storytime for toddlers", Category.FAMILY),
        ("Halve marathon van Egmond", Category.ACTIVE),
        ("Chair yoga for beginners", Category.ACTIVE),
        ("Pubquiz in café de Zwaan", Category.GAMING),
        ("Bordspellenavond", Category.GAMING),
        ("Wijnproeverij", Category.FOODIE),
        ("Food truck lunch", Category.FOODIE),
        ("Cursus schilderen", Category.WORKSHOPS),
        ("Lecture: the history of the port", Category.WORKSHOPS),
        ("Natuurwandeling met de boswachter", Category.OUTDOORS),
        ("Birds of the forest: a guided hike", Category.OUTDOORS),
        ("Toneelvoorstelling De Kersentuin", Category.ENTERTAINMENT),
        ("Stand-up comedy night", Category.ENTERTAINMENT),
        ("Nieuwjaarsborrel", Category.SOCIAL),
        ("Networking drinks", Category.SOCIAL),
        ("Raadsvergadering", Category.COMMUNITY),
        ("City Council meeting", Category.COMMUNITY),
        ("Xyzzy", Category.COMMUNITY),
    ],
)
def test_a_title_speaks_for_its_category(title: str, category: Category) -> None:
    assert category_of("", "", title, "") is category


@pytest.mark.shows("E1b")
def test_the_sources_own_label_outweighs_the_title() -> None:
    assert category_of("", "Muziek", "Avond voor kinderen", "") is Category.MUSIC


@pytest.mark.shows("E1b")
def test_the_kind_decides_when_words_are_silent() -> None:
    assert category_of("MusicEvent", "", "Xyzzy", "") is Category.MUSIC


def test_the_description_is_asked_last() -> None:
    assert category_of("", "", "Xyzzy", "Een avond vol muziek") is Category.MUSIC


def test_remembered_words_are_forgotten_when_they_become_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(categories, "_MOST_WORDS", 2)
    words = categories._Words()
    assert [words[word] for word in ("jazz", "xyzzy", "kermis")] == [Category.MUSIC, None, Category.ENTERTAINMENT]
    assert words == {"kermis": Category.ENTERTAINMENT}


def test_a_monstrous_word_is_read_but_not_remembered() -> None:
    words = categories._Words()
    assert words["x" * 100 + "concert"] is Category.MUSIC
    assert not words


@pytest.mark.shows("E1b")
def test_the_sites_own_section_comes_first() -> None:
    section = category_of_section("https://town.example/agenda/muziek")
    assert section is Category.MUSIC
    assert category_of("", "", "Wijnproeverij", "", section) is Category.MUSIC
    assert category_of_section("https://town.example/agenda") is None
    assert category_of_section("https://town.example/muziek-en-theater") is None


@pytest.mark.parametrize("title", ["Lunch concert", "Lunchconcert in het park", "Wijn en jazz: concert"])
def test_what_it_is_outranks_what_it_is_like(title: str) -> None:
    assert category_of("", "", title, "") is Category.MUSIC


def test_tickets_and_catering_say_nothing() -> None:
    assert category_of("", "", "Xyzzy", "Tickets 5 euro, koffie en taart inbegrepen.") is Category.COMMUNITY


def test_stems_inside_a_word_are_those_that_one_pattern_of_all_stems_finds() -> None:
    stems = sorted(
        (stem for stem in categories._TABLE if len(stem) >= categories._SHORTEST_INSIDE), key=len, reverse=True
    )
    pattern = re.compile("|".join(stems))
    words = [first + glue + second for first in stems for glue in ("", "s", "x") for second in stems[::7]]
    assert all(categories._parts_of(word) == pattern.findall(word) for word in words)
    assert categories._parts_of("kinderworkshopavond") == ["kinder", "workshop"]
    assert categories._parts_of("les") == []
