from datetime import timedelta

import msgspec
import pytest

from rig.clock import NOON
from tidemill.core.discovery.candidates import (
    Appraisal,
    Candidate,
    CandidateEvidence,
    Opinion,
    appraise,
    source_name,
    with_opinion,
)
from tidemill.core.discovery.places import NETHERLANDS, Place, is_believable, is_named, kilometres
from tidemill.core.discovery.search import SearchResult, count_words, is_noise, places_to_search, queries_for, shortlist
from tidemill.core.source import Coordinates
from tidemill.verticals.events.discovery import PROFILE

ARNHEM = Place("Arnhem", "Gelderland", 167_632, Coordinates(51.98, 5.9111))
UTRECHT = Place("Utrecht", "Utrecht", 374_238, Coordinates(52.0908, 5.1222))
ROZENDAAL = Place("Rozendaal", "Gelderland", 1_792, Coordinates(52.0058, 5.9625))
THE_HAGUE = Place("'s-Gravenhage", "Zuid-Holland", 566_221, Coordinates(52.0767, 4.2986), "Den Haag")


@pytest.mark.shows("E5")
def test_the_largest_municipality_that_was_not_searched_lately_goes_first():
    searched = {"Utrecht": NOON - timedelta(days=3), "Arnhem": NOON - timedelta(days=40)}
    assert places_to_search([ROZENDAAL, UTRECHT, ARNHEM], searched, NOON, 5) == [ARNHEM, ROZENDAAL]


def test_no_more_municipalities_are_chosen_than_asked_for():
    assert places_to_search([ROZENDAAL, UTRECHT, ARNHEM], {}, NOON, 1) == [UTRECHT]


@pytest.mark.shows("E5")
def test_each_municipality_gets_five_questions_under_the_name_that_people_use():
    questions = queries_for(THE_HAGUE, PROFILE)
    assert len(set(questions)) == 5
    assert all("Den Haag" in question for question in questions)


@pytest.mark.shows("E5")
@pytest.mark.parametrize(
    "url",
    [
        "https://www.facebook.com/events/1",
        "https://nl.tripadvisor.com/x",
        "https://nl.wikipedia.org/wiki/Arnhem",
        "https://facebook.com",
    ],
)
def test_sites_that_answer_every_question_are_noise(url):
    assert is_noise(url, PROFILE.noise)


def test_a_town_whose_name_is_in_a_noise_name_is_no_noise():
    assert not is_noise("https://facebook.com.arnhem.nl/agenda", PROFILE.noise)


@pytest.mark.shows("E5")
def test_only_the_best_address_of_a_site_is_looked_at():
    hits = [
        SearchResult("https://www.arnhem.nl/contact", "Contact", position=1),
        SearchResult("https://www.arnhem.nl/agenda", "Agenda Arnhem", "alle evenementen", position=2),
        SearchResult("https://luxor.test/programma", "Luxor", position=3),
    ]
    picks, passed = shortlist(hits, PROFILE)
    assert [pick.url for pick in picks] == ["https://www.arnhem.nl/agenda", "https://luxor.test/programma"]
    assert passed == []


def test_a_site_is_the_same_with_www_and_without():
    hits = [
        SearchResult("https://www.arnhem.nl/agenda"),
        SearchResult("https://arnhem.nl/evenementen"),
        SearchResult("https://www.known.test/x"),
    ]
    picks, passed = shortlist(hits, PROFILE, taken={"known.test"})
    assert len(picks) == 1
    assert [one.url for one in passed] == ["https://www.known.test/x"]


def test_what_is_passed_over_is_told_with_its_reason():
    hits = [
        SearchResult("https://facebook.com/arnhem"),
        SearchResult("https://arnhem.test/jaarverslag.pdf"),
        SearchResult("javascript:alert(1)"),
        SearchResult("https://known.test/agenda"),
    ]
    picks, passed = shortlist(hits, PROFILE, taken={"known.test"})
    assert picks == []
    assert [one.reason.split(":")[0] for one in passed] == [
        "noise",
        "a file, not a page",
        "not an address of the web",
        "a source or candidate already",
    ]


@pytest.mark.shows("E5")
def test_an_agenda_full_of_events_is_trusted_and_a_page_of_words_is_not():
    full = CandidateEvidence(
        records=12, upcoming=12, strategy="json-ld", record_confidence=1.0, dates=12, words=30, names_place=True
    )
    empty = CandidateEvidence(words=30)
    assert appraise(full).confidence >= 0.9
    assert appraise(empty).confidence < 0.2


@pytest.mark.shows("E5")
def test_a_page_that_does_not_name_its_place_counts_for_half_whatever_the_model_says():
    elsewhere = CandidateEvidence(
        records=12, upcoming=12, strategy="json-ld", record_confidence=1.0, dates=12, words=30, search_score=1.0
    )
    rated = appraise(elsewhere)
    assert rated.confidence == 0.45
    assert "the page does not name the place" in rated.reasons
    assert with_opinion(rated, Opinion(is_agenda=True, confidence=1.0), elsewhere).confidence <= 0.5


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Uit in Ede.", True),
        ("EDE", True),
        ("de Edese agenda", True),
        ("een concert voor de vrede", False),
        ("edele klanken", False),
        ("", False),
    ],
)
def test_a_place_is_named_by_a_word_of_its_own(text, named):
    assert is_named(msgspec.structs.replace(ARNHEM, name="Ede", spoken=""), text) is named


def test_every_appraisal_says_why():
    told = " ".join(appraise(CandidateEvidence(records=3, upcoming=2, strategy="heuristics", dates=3)).reasons)
    assert "2 of 3 records" in told
    assert "heuristics" in told


def test_the_model_may_lower_a_confidence_as_far_as_it_likes():
    seen = CandidateEvidence(records=12, upcoming=12, record_confidence=1.0, dates=12, words=30, names_place=True)
    said = with_opinion(appraise(seen), Opinion(is_agenda=False, confidence=0.9), seen)
    assert said.confidence <= 0.3
    assert said.method == "hybrid"


@pytest.mark.shows("E5")
def test_a_page_cannot_talk_the_model_into_trusting_it_without_events():
    seen = CandidateEvidence(words=3)
    assert (
        with_opinion(Appraisal(0.1, "heuristics", ()), Opinion(is_agenda=True, confidence=1.0), seen).confidence <= 0.5
    )


def test_a_source_is_named_for_its_host_and_numbered_when_that_is_taken():
    candidate = Candidate(
        url="https://www.uit.test/agenda", canonical_url="https://uit.test/agenda", place="Arnhem", found_at=NOON
    )
    assert source_name(candidate, ()) == "uit.test"
    assert source_name(candidate, {"uit.test", "uit.test-2"}) == "uit.test-3"


def test_event_words_are_counted_in_both_languages():
    assert count_words("Agenda: concert in het theater, tickets at the venue", PROFILE) == 5


def test_distances_are_those_of_the_map():
    assert kilometres(ARNHEM.coordinates, UTRECHT.coordinates) == pytest.approx(55.4, abs=1)


@pytest.mark.shows("N3")
@pytest.mark.parametrize(
    ("point", "believed"),
    [
        (Coordinates(52.0, 5.9), True),
        (Coordinates(48.85, 2.35), False),
        (Coordinates(0.0, 0.0), False),
        (Coordinates(53.2, 6.5), False),
    ],
    ids=["near", "in Paris", "nowhere", "in the country but far from its source"],
)
def test_a_point_is_believed_only_in_its_country_and_near_its_source(point, believed):
    assert is_believable(point, NETHERLANDS, ARNHEM.coordinates, 75) is believed
