"""The ten categories, by rules in six languages."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
@pytest.mark.parametrize(
    ("category", "titles"),
    [
        (Category.MUSIC, "Brass|Smartlappenkoor|Liederabend mit Klavier|Chorale de Noël|Noche de flamenco"),
        (Category.FAMILY, "Egg Hunt|Spooktocht|Laternenumzug|Heure du conte|Cuentacuentos|Letture per bambini"),
        (Category.ACTIVE, "Pickleball|Roeiclinic|Volkslauf|Tournoi de pétanque|Carrera popular|Corsa campestre"),
        (Category.GAMING, "Cribbage|Klaverjasavond|Brettspieltreff|Loto|Torneo de ajedrez|Torneo di scacchi"),
        (Category.FOODIE, "Chili Cook-Off|Asperges|Weinprobe|Dégustation|Cata de vinos|Sagra del tartufo"),
        (Category.WORKSHOPS, "Resume|Schrijversavond|Vortrag über Bienen|Stage et cours|Charla|Corso di inglese"),
        (Category.OUTDOORS, "Full Moon Paddle|Paddenstoelen zoeken|Pilzwanderung|Randonnée|Senderismo|Escursione"),
        (Category.ENTERTAINMENT, "Improv Jam|Kleinkunst|Vernissage|Pièce de théâtre|Obra de teatro|Mostra di pittura"),
        (Category.SOCIAL, "Newcomers|Nieuwjaarsreceptie|Stammtisch|Bal populaire|Fiestas patronales|Festa patronale"),
        (Category.COMMUNITY, "Blood Drive|Bloedbank|Gemeinderatssitzung|Conseil municipal|Pleno|Consiglio comunale"),
    ],
)  # fmt: skip
def test_titles_in_six_languages_speak_for_their_category(category: Category, titles: str) -> None:
    assert {title: category_of("", "", title, "") for title in titles.split("|")} == dict.fromkeys(
        titles.split("|"), category
    )


@pytest.mark.shows("E1b")
@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("/veranstaltungen/vortraege", Category.WORKSHOPS), ("/veranstaltungen/maerkte", Category.COMMUNITY),
        ("/agenda/randonnees", Category.OUTDOORS), ("/eventos/exposiciones", Category.ENTERTAINMENT),
        ("/eventi/sagre", Category.FOODIE), ("/calendar/board-of-selectmen", Category.COMMUNITY),
        ("/agenda/sport-en-bewegen", Category.ACTIVE), ("/agenda/concerten-en-theater", None),
    ],
)  # fmt: skip
def test_sections_speak_in_six_languages_and_without_their_accents(path: str, category: Category | None) -> None:
    assert category_of_section(f"https://town.example{path}") is category


@pytest.mark.parametrize("title", ["Corona en wij", "Manifest", "De anchor", "Ablauf"])
def test_a_word_that_counts_by_itself_says_nothing_inside_another(title: str) -> None:
    assert category_of("MusicEvent", "", title, "") is Category.MUSIC


@pytest.mark.shows("E1b")
def test_the_sources_own_label_outweighs_the_title() -> None:
    assert category_of("", "Muziek", "Avond voor kinderen", "") is Category.MUSIC


@pytest.mark.shows("E1b")
def test_the_kind_decides_when_words_are_silent() -> None:
    assert category_of("MusicEvent", "", "Xyzzy", "") is Category.MUSIC


def test_the_description_is_asked_last() -> None:
    assert category_of("", "", "Xyzzy", "Een avond vol muziek") is Category.MUSIC


_PIECES = (
    *categories._TABLE, *categories._ENDINGS, *categories._LAST_PART_WORDS,
    "xyz", "-", "(", ")", "'", " ", "9", "_", "kon", "loo",
)  # fmt: skip


def test_remembered_words_are_forgotten_when_they_become_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(categories, "_MOST_WORDS", 2)
    words = categories._Words()
    assert [words[word] for word in ("jazz", "xyzzy", "kermis")] == [Category.MUSIC, None, Category.ENTERTAINMENT]
    assert words == {"kermis": Category.ENTERTAINMENT}


@given(st.lists(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=4).map("".join), max_size=30))
def test_words_that_are_looked_up_together_say_what_each_says_alone(texts: list[str]) -> None:
    words = [word for text in texts for word in text.lower().split()]
    together = categories._Words()
    together.learn(words)
    assert [together[word] for word in words] == [categories._of_word(word) for word in words]


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


@pytest.mark.parametrize(
    ("description", "category"),
    [
        ("Kom luisteren naar het zomerconcert van onze harmonie", Category.MUSIC),
        ("Met na afloop een buurtborrel op het plein", Category.SOCIAL),
        ("Je hoort er alles over oude files en articles", Category.COMMUNITY),
        ("Een open zangles voor iedereen", Category.WORKSHOPS),
        ("Een middag vol verhalen", Category.COMMUNITY),
    ],
)
def test_a_description_speaks_by_words_that_begin_or_end_as_those_of_the_table(
    description: str, category: Category
) -> None:
    assert category_of("", "", "Xylo", description) is category


@pytest.mark.parametrize(
    ("description", "category"),
    [("Een intiem zomerconcert.", Category.MUSIC), ("Met een lentewandeling na.", Category.OUTDOORS)],
)
def test_compounds_of_a_description_count_by_how_they_end(description: str, category: Category) -> None:
    assert category_of("", "", "Zondag", description) is category
