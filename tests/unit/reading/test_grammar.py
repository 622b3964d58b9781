"""The grammar of dates: phrases of several languages, none of which any single pattern knows."""

from datetime import UTC, datetime

import pytest

from tidemill.reading import parse_moment
from tidemill.reading.amounts.numbers import number_at
from tidemill.reading.moments.feasts import easter, feast_in, orthodox_easter
from tidemill.reading.moments.grammar.tokens import tokens_of

TUESDAY = datetime(2026, 2, 10, 3, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "text", "starts"),
    [
        ("nl", "14/5 - 15/5", "2026-05-14T00:00"),
        ("nl", "maandag 21", "2026-09-21T00:00"),
        ("en", "Thu 15th", "2026-10-15T00:00"),
        ("nl", "4e van juli", "2026-07-04T00:00"),
        ("en", "february the 15th", "2026-02-15T00:00"),
        ("en", "fri.", "2026-02-13T00:00"),
        ("en", "from the 13th to the 15th of July", "2026-07-13T00:00"),
        ("nl", "drie weken na Pasen", "2026-04-26T00:00"),
        ("en", "in two weeks", "2026-02-24T00:00"),
        ("en", "the last Friday of May 2027", "2027-05-28T00:00"),
        ("nl", "derde dinsdag na kerst 2026", "2027-01-12T00:00"),
        ("en", "third quarter", "2026-07-01T00:00"),
        ("en", "at the end of the month", "2026-02-21T00:00"),
        ("nl", "koningsdag 2026", "2026-04-27T00:00"),
        ("nl", "zaterdagavond", "2026-02-14T18:00"),
        ("nl", "kwart over acht", "2026-02-10T20:15"),
        ("en", "tomorrow from 9 to 11am", "2026-02-11T09:00"),
        ("en", "Thursday 8:00 EST", "2026-02-12T14:00"),
        ("de", "Samstag, 14. März 2026 um 20 Uhr", "2026-03-14T20:00"),
        ("de", "nächsten Dienstag", "2026-02-17T00:00"),
        ("de", "in drei Wochen", "2026-03-03T00:00"),
        ("fr", "du 3 au 5 avril 2026", "2026-04-03T00:00"),
        ("fr", "samedi prochain", "2026-02-14T00:00"),
        ("fr", "le 1er mai à 20h30", "2026-05-01T20:30"),
        ("es", "15 de marzo de 2026", "2026-03-15T00:00"),
        ("es", "el sábado 14 de marzo a las 20:30", "2026-03-14T20:30"),
        ("it", "sabato 14 marzo 2026 alle 21", "2026-03-14T21:00"),
        ("it", "dal 3 al 5 aprile", "2026-04-03T00:00"),
    ],
)
def test_phrases_that_tables_and_rules_make_up(language: str, text: str, starts: str) -> None:
    moment = parse_moment(text, TUESDAY, language=language)
    assert moment is not None
    assert moment.starts.replace(tzinfo=None).isoformat()[:16] == starts


@pytest.mark.parametrize("text", ["at a couple of", "4a", "2200-25", "the second half of 2025", "two three", "25"])
def test_what_only_looks_like_a_time_is_refused(text: str) -> None:
    assert parse_moment(text, TUESDAY, language="en") is None


def test_days_of_a_range_share_the_time_that_is_told_once() -> None:
    moment = parse_moment("vrijdag 20 t/m zondag 22 november, 20.30 uur", TUESDAY)
    assert moment is not None
    assert moment.ends is not None
    assert (moment.starts.hour, moment.starts.day, moment.ends.day) == (20, 20, 22)


def test_a_word_that_is_no_part_of_a_date_ends_the_phrase() -> None:
    assert tokens_of("zaterdag in de kerk", "nl", day_first=True) is None


def test_feasts_fall_on_their_days() -> None:
    assert (easter(2026).isoformat(), orthodox_easter(2026).isoformat()) == ("2026-04-05", "2026-04-12")
    assert [feast_in(name, 2018) for name in ("hanukkah", "koningsdag")] == [
        (datetime(2018, 12, 2, tzinfo=UTC).date(), 8),
        (datetime(2018, 4, 27, tzinfo=UTC).date(), 1),
    ]
    assert feast_in("chinese new year", 2025) == (datetime(2025, 1, 29, tzinfo=UTC).date(), 1)


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("en", "two thousand nineteen", 2019),
        ("en", "a hundred and five", 105),
        ("nl", "tweeënveertig", 42),
        ("nl", "twee en veertig", 42),
        ("de", "einundzwanzig", 21),
        ("fr", "quatre vingt dix sept", 97),
        ("es", "treinta y cinco", 35),
        ("it", "ventotto", 28),
    ],
)
def test_numbers_in_words(language: str, text: str, value: int) -> None:
    found = number_at(text.split(), 0, language)
    assert found is not None
    assert (int(found[0]), found[1]) == (value, len(text.split()))
