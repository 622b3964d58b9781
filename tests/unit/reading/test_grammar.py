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
        ("en", "the week before last", "2026-01-26T00:00"),
        ("en", "the year before last", "2024-01-01T00:00"),
        ("en", "March after next", "2027-03-01T00:00"),
        ("en", "a week on Thursday", "2026-02-19T00:00"),
        ("en", "20 of next month", "2026-03-20T00:00"),
        ("en", "first weekend of March", "2026-03-07T00:00"),
        ("en", "last weekend of October 2027", "2027-10-30T00:00"),
        ("en", "fourth Thursday of November", "2026-11-26T00:00"),
        ("en", "second Tuesday of January", "2027-01-12T00:00"),
        ("en", "2026-W20", "2026-05-11T00:00"),
        ("en", "Monday of week 20", "2026-05-11T00:00"),
        ("en", "quarter to noon", "2026-02-10T11:45"),
        ("en", "15 to noon", "2026-02-10T11:45"),
        ("en", "12 midnight", "2026-02-11T00:00"),
        ("en", "tonight at midnight", "2026-02-11T00:00"),
        ("en", "1930h", "2026-02-10T19:30"),
        ("en", "later than 9:30 but before 11:00 on Thursday", "2026-02-12T09:30"),
        ("en", "between 3 and 5 May", "2026-05-03T00:00"),
        ("en", "a decade ago", "2016-02-10T00:00"),
        ("en", "22.Feb.2027", "2027-02-22T00:00"),
        ("en", "Feb/22/2027", "2027-02-22T00:00"),
        ("en", "Jan. 31, 2027: 9 AM", "2027-01-31T09:00"),
        ("en", "All Saints' Day", "2026-11-01T00:00"),
        ("en", "Presidents' Day", "2026-02-16T00:00"),
        ("en", "first Sunday of Advent", "2026-11-29T00:00"),
        ("en", "Victoria Day", "2026-05-18T00:00"),
        ("en", "Remembrance Sunday 2027", "2027-11-14T00:00"),
        ("nl", "afgelopen winter", "2024-12-21T00:00"),
        ("nl", "vrijdag jl.", "2026-02-06T00:00"),
        ("nl", "vandaag over een week", "2026-02-17T00:00"),
        ("nl", "over een halfjaar", "2026-08-10T00:00"),
        ("nl", "5 uur 's nachts", "2026-02-10T05:00"),
        ("nl", "twaalf uur 's nachts", "2026-02-11T00:00"),
        ("nl", "14.00 tot 16.30", "2026-02-10T14:00"),
        ("nl", "week 5 van 2027", "2027-02-01T00:00"),
        ("nl", "maandag in week 20", "2026-05-11T00:00"),
        ("nl", "5 mei tussen twee en vijf uur", "2026-05-05T14:00"),
        ("nl", "wo 6 mei v.a. 13.00", "2026-05-06T13:00"),
        ("nl", "Luilak", "2026-05-23T00:00"),
        ("nl", "14-5 t/m 15-5", "2026-05-14T00:00"),
        ("de", "vor 3 Tagen", "2026-02-07T00:00"),
        ("de", "3.-5. März 2026", "2026-03-03T00:00"),
        ("de", "erster Sonntag im März", "2026-03-01T00:00"),
        ("de", "20. bis 22. November 2026, 20 Uhr", "2026-11-20T20:00"),
        ("de", "KW 12", "2026-03-16T00:00"),
        ("fr", "il y a 3 jours", "2026-02-07T00:00"),
        ("fr", "la semaine prochaine", "2026-02-16T00:00"),
        ("es", "sábado 28 de noviembre de 2026 a las 20:00", "2026-11-28T20:00"),
        ("es", "hace 3 días", "2026-02-07T00:00"),
        ("es", "de 9:00 a 11:00 horas", "2026-02-10T09:00"),
        ("it", "28 marzo ore 20.30", "2026-03-28T20:30"),
        ("it", "dalle 9 alle 11", "2026-02-10T09:00"),
        ("en", "the day before Christmas", "2026-12-24T00:00"),
        ("nl", "de dag na pasen", "2026-04-06T00:00"),
        ("en", "the week after next", "2026-02-23T00:00"),
        ("en", "Friday after next", "2026-02-20T00:00"),
        ("en", "Friday week", "2026-02-20T00:00"),
        ("nl", "vrijdag over een week", "2026-02-20T00:00"),
        ("nl", "week 12", "2026-03-16T00:00"),
        ("en", "week 12 of 2027", "2027-03-22T00:00"),
        ("en", "the Monday after Easter", "2026-04-06T00:00"),
        ("en", "the Monday before Easter", "2026-03-30T00:00"),
        ("en", "this past Monday", "2026-02-09T00:00"),
        ("en", "Saturday and Sunday", "2026-02-14T00:00"),
        ("en", "the first of the month", "2026-03-01T00:00"),
        ("nl", "de laatste dag van de maand", "2026-02-28T00:00"),
        ("nl", "half maart", "2026-03-11T00:00"),
        ("nl", "mrt '27", "2027-03-01T00:00"),
        ("de", "24.3.", "2026-03-24T00:00"),
        ("nl", "ma t/m vr", "2026-02-16T00:00"),
        ("nl", "over een half uur", "2026-02-10T05:00"),
        ("nl", "over anderhalf uur", "2026-02-10T06:00"),
        ("en", "an hour and a half ago", "2026-02-10T03:00"),
        ("nl", "vanmiddag 3 uur", "2026-02-10T15:00"),
        ("nl", "vrijdag 9-11 uur", "2026-02-13T09:00"),
        ("en", "Saint Patrick\u2019s Day", "2026-03-17T00:00"),
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


@pytest.mark.parametrize(
    ("text", "language", "starts"),
    [
        ("Mar-14-2026", "en", "2026-03-14T00:00"),
        ("today at 5", "en", "2026-03-04T17:00"),
        ("today at 11", "en", "2026-03-04T11:00"),
        ("in 1h 20m", "en", "2026-03-04T11:35"),
        ("1500 hours", "en", "2026-03-04T15:00"),
        ("ten to five pm", "en", "2026-03-04T16:50"),
        ("six to eight pm", "en", "2026-03-04T18:00"),
        ("the weekend", "en", "2026-03-07T00:00"),
        ("over een halfuur", "nl", "2026-03-04T10:45"),
        ("2e kerstdag", "nl", "2026-12-26T00:00"),
        ("derde kwartaal van 2026", "nl", "2026-07-01T00:00"),
        ("Sa 14.03. 20 Uhr", "de", "2026-03-14T20:00"),
        ("14.03.26", "de", "2026-03-14T00:00"),
        ("1\u00b0 maggio", "it", "2026-05-01T00:00"),
        ("3 July, 8pm CET", "en", "2026-07-03T20:00"),
        ("3 July, 8pm EST", "en", "2026-07-04T03:00"),
    ],
)
@pytest.mark.shows("E2")
def test_more_ways_to_say_when(text: str, language: str, starts: str) -> None:
    moment = parse_moment(text, datetime(2026, 3, 4, 10, 15), language=language)  # noqa: DTZ001 - a wall-clock time
    assert moment is not None
    assert moment.starts.replace(tzinfo=None).isoformat()[:16] == starts


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-03-14/2026-03-16", "2026-03-14T00:00", "2026-03-16T23:59"),
        ("from noon until 2 on 14 March", "2026-03-14T12:00", "2026-03-14T14:00"),
        ("from 11 to 2 on 14 March", "2026-03-14T11:00", "2026-03-14T14:00"),
    ],
)
def test_more_ways_to_say_from_when_until_when(text: str, first: str, last: str) -> None:
    moment = parse_moment(text, datetime(2026, 3, 4, 10, 15), language="en")  # noqa: DTZ001
    assert moment is not None
    assert moment.ends is not None
    assert [one.replace(tzinfo=None).isoformat()[:16] for one in (moment.starts, moment.ends)] == [first, last]


@pytest.mark.parametrize(
    ("language", "text", "ends"),
    [
        ("en", "tomorrow evening", "2026-02-12T00:00"),
        ("en", "Saturday afternoon", "2026-02-14T18:00"),
        ("nl", "zaterdagavond", "2026-02-15T00:00"),
        ("en", "first weekend of March", "2026-03-08T23:59"),
        ("nl", "tussen 3 en 5 mei", "2026-05-05T23:59"),
        ("nl", "14.00 tot 16.30", "2026-02-10T16:30"),
        ("en", "summer 2026", "2026-09-22T23:59"),
        ("en", "by the end of the day", "2026-02-11T00:00"),
    ],
)
def test_stretches_end_where_they_are_over(language: str, text: str, ends: str) -> None:
    moment = parse_moment(text, TUESDAY, language=language)
    assert moment is not None
    assert moment.ends is not None
    assert moment.ends.replace(tzinfo=None).isoformat()[:16] == ends


@pytest.mark.parametrize("text", ["24/7", "2019 - 2020", "fourth street", "this past one", "the 2010", "days'"])
def test_what_only_looks_like_a_phrase_of_time_is_none(text: str) -> None:
    assert parse_moment(text, TUESDAY, language="en") is None
