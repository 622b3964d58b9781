"""Phrases as newspapers, newsletters and posts write them, as of Wednesday 12 March 2025, and what they mean."""

from datetime import UTC, datetime

import pytest

from tidemill.reading import parse_moment

NOW = datetime(2025, 3, 12, 9, 20, tzinfo=UTC)
ENGLISH = {
    "the 1980s": "1980-01-01", "the '90s": "1990-01-01", "the nineties": "1990-01-01",
    "since 2019": "2019-01-01",
    "Labor Day weekend": "2025-08-30", "Memorial Day weekend": "2025-05-24", "Thanksgiving weekend": "2025-11-27",
    "Easter weekend": "2025-04-19",
    "at seven thirty in the evening": "2025-03-12T19:30", "three twenty pm": "2025-03-12T15:20",
    "twenty to five in the afternoon": "2025-03-12T16:40", "ten to three this afternoon": "2025-03-12T14:50",
    "in three-quarters of an hour": "2025-03-12T11:05", "early in the morning": "2025-03-12T00:00",
    "for three days starting April 4": "2025-04-04", "earth hour": "2025-03-29T20:30",
    "the last Thursday of next month": "2025-04-24", "two weeks from Tuesday": "2025-04-01",
    "this past Sunday": "2025-03-09", "mid-November": "2025-11-11", "in Q2 2018": "2018-04-01",
}  # fmt: skip
DUTCH = {
    "de zomer van 2025": "2025-06-21", "de jaren tachtig": "1980-01-01", "in de jaren 90": "1990-01-01",
    "tegen vijven": "2025-03-12T17:00", "klokslag zes": "2025-03-12T18:00", "negentien uur dertig": "2025-03-12T19:30",
    "heden": "2025-03-12", "10 dagen vanaf morgen": "2025-03-23", "laat in de avond": "2025-03-12T21:00",
    "vroeg in de ochtend": "2025-03-12T00:00", "kwart over zes": "2025-03-12T18:15",
    "over anderhalf uur": "2025-03-12T11:50", "half juli": "2025-07-11", "eind volgende maand": "2025-04-21",
    "Pinkstermaandag": "2025-06-09", "op donderdag na 9:30 maar voor 11:00": "2025-03-13T09:30",
}  # fmt: skip
NO_DATES = (
    "een op de tien", "in totaal 12 stuks", "the second one", "fifty percent", "last but not least", "40s",
    "back in black", "3 tegen 4", "two tickets", "1.2.3.4", "24/7", "room 204", "op de tweede plaats",
)  # fmt: skip


@pytest.mark.parametrize(("language", "phrase", "wanted"), [
    *(("en", phrase, wanted) for phrase, wanted in ENGLISH.items()),
    *(("nl", phrase, wanted) for phrase, wanted in DUTCH.items()),
])  # fmt: skip
def test_a_phrase_begins_when_it_means(language: str, phrase: str, wanted: str) -> None:
    moment = parse_moment(phrase, NOW, language=language)
    assert moment is not None
    assert moment.starts.isoformat()[: len(wanted)] == wanted


@pytest.mark.parametrize("phrase", NO_DATES)
def test_what_only_looks_like_a_date_is_none(phrase: str) -> None:
    assert parse_moment(phrase, NOW, language="en") is None
    assert parse_moment(phrase, NOW, language="nl") is None
