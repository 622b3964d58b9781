"""Dates and times as Dutch and English pages write them."""

from datetime import UTC, date, datetime

import pytest

from tidemill.reading.moments import Grain, find_moments, parse_end, parse_moment, parse_moments

pytestmark = pytest.mark.shows("E2")

SUNDAY = datetime(2026, 11, 15, 12, tzinfo=UTC)


def shown(text: str, language: str = "nl", zone: str = "Europe/Amsterdam") -> tuple[str, str, str] | None:
    """(start, grain, end) as text, so that a table of phrases reads as one."""
    moment = parse_moment(text, SUNDAY, zone, language)
    if moment is None:
        return None
    start = (
        moment.starts.isoformat()[:16].replace("T00:00", "") if moment.time is None else moment.starts.isoformat()[:16]
    )
    return start, moment.grain.value, moment.ends.isoformat()[:16] if moment.ends else ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20 november 2026", ("2026-11-20", "day", "")),
        ("vr 20 nov 2026 - 20:30", ("2026-11-20T20:30", "minute", "")),
        ("Vrijdag 20 november 2026 van 19.30 tot 22.00 uur", ("2026-11-20T19:30", "minute", "2026-11-20T22:00")),
        ("20-11-2026 om 20.30 uur", ("2026-11-20T20:30", "minute", "")),
        ("20.11.2026", ("2026-11-20", "day", "")),
        ("wo 9/12", ("2026-12-09", "day", "")),
        ("31ste december '26", ("2026-12-31", "day", "")),
        ("2026-11-20 20:30", ("2026-11-20T20:30", "minute", "")),
        ("20261120", ("2026-11-20", "day", "")),
        ("zondag 6 december 15u30", ("2026-12-06T15:30", "minute", "")),
        ("Zo 6 dec 15:00u", ("2026-12-06T15:00", "minute", "")),
        ("Donderdag 10 december | 20:15 - 22:00 uur | Grote zaal", ("2026-12-10T20:15", "minute", "2026-12-10T22:00")),
        ("16:00 Zaterdag 21 nov", ("2026-11-21T16:00", "minute", "")),
        ("december 2026", ("2026-12-01", "month", "")),
    ],
)
def test_dutch_dates(text: str, expected: tuple[str, str, str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Saturday, November 21, 2026 7:30 PM - 9:30 PM", ("2026-11-21T19:30", "minute", "2026-11-21T21:30")),
        ("Nov 21 @ 7:00 pm", ("2026-11-21T19:00", "minute", "")),
        ("12/04/2026 06:00 PM", ("2026-12-04T18:00", "minute", "")),
        ("11:00 a.m. to 1:00 p.m., Friday, Dec. 4", ("2026-12-04T11:00", "minute", "2026-12-04T13:00")),
        ("21st November 2026, 7pm to 9pm", ("2026-11-21T19:00", "minute", "2026-11-21T21:00")),
        ("November 21 - 23", ("2026-11-21", "day", "2026-11-23T23:59")),
        ("Wed Dec 09 12:00:00 2026", ("2026-12-09T12:00", "minute", "")),
        ("2026/Nov/20", ("2026-11-20", "day", "")),
        ("December 13, 2026 at midnight", ("2026-12-13T00:00", "minute", "")),
        ("third Tuesday of December", ("2026-12-15", "day", "")),
        ("next Friday", ("2026-11-20", "day", "")),
        ("tomorrow evening", ("2026-11-16T18:00", "part", "2026-11-17T00:00")),
    ],
)
def test_english_dates(text: str, expected: tuple[str, str, str]) -> None:
    assert shown(text, "en", "America/Chicago") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20 t/m 22 november", ("2026-11-20", "day", "2026-11-22T23:59")),
        ("vrijdag 20 t/m zondag 22 november, 20.30 uur", ("2026-11-20T20:30", "minute", "2026-11-22T23:59")),
        ("28 december t/m 3 januari", ("2026-12-28", "day", "2027-01-03T23:59")),
        ("28 december 2026 tot en met 3 januari 2027", ("2026-12-28", "day", "2027-01-03T23:59")),
        ("10 augustus - 12 september 2027", ("2027-08-10", "day", "2027-09-12T23:59")),
        ("vr 20 nov 20:00 - za 21 nov 02:00", ("2026-11-20T20:00", "minute", "2026-11-21T02:00")),
        ("20 november 22:00 - 03:00 uur", ("2026-11-20T22:00", "minute", "2026-11-21T03:00")),
    ],
)
def test_ranges(text: str, expected: tuple[str, str, str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("om half acht", "19:30"),
        ("half acht 's ochtends", "07:30"),
        ("kwart over acht 's avonds", "20:15"),
        ("kwart voor negen", "20:45"),
        ("acht uur", "20:00"),
        ("tien uur", "10:00"),
        ("8 uur 's avonds", "20:00"),
        ("20.30 uur", "20:30"),
        ("aanvang 20:00", "20:00"),
        ("inloop 19.30 uur, aanvang 20.15 uur", "20:15"),
        ("deuren open 19:00, start 20:00", "20:00"),
        ("20h15", "20:15"),
    ],
)
def test_times(text: str, time: str) -> None:
    moment = parse_moment(f"vrijdag 20 november 2026 {text}", SUNDAY)
    assert moment is not None
    assert moment.time is not None
    assert moment.time.isoformat("minutes") == time


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("vandaag", "2026-11-15"),
        ("morgen om 20:00", "2026-11-16"),
        ("overmorgen", "2026-11-17"),
        ("volgende week zaterdag", "2026-11-21"),
        ("zaterdag a.s.", "2026-11-21"),
        ("vorige vrijdag", "2026-11-13"),
        ("elke dinsdag om 10 uur", "2026-11-17"),
        ("eerste zondag van de maand", "2026-12-06"),
        ("eerste zondag van december 2026", "2026-12-06"),
        ("the third Thursday of January 2027", "2027-01-21"),
        ("laatste vrijdag van november", "2026-11-27"),
        ("over 5 dagen", "2026-11-20"),
        ("vanavond", "2026-11-15"),
        ("gisteravond", "2026-11-14"),
        ("komend weekend", "2026-11-14"),
        ("volgende week", "2026-11-16"),
        ("volgende maand", "2026-12-01"),
    ],
)
def test_relative_dates(text: str, day: str) -> None:
    moment = parse_moment(text, SUNDAY)
    assert moment is not None
    assert moment.day.isoformat() == day


@pytest.mark.parametrize(
    "text",
    [
        "", "binnenkort", "an", "1", "2026", "24/7 open", "€ 12,50", "12.50", "tel 020-1234567", "1 op 3 Nederlanders",
        "van 5 t/m 12 jaar", "vanaf 18 jaar", "Kaarten: 12 - 15 euro", "31 november", "29 februari 2026", "13/13/2026",
        "zaterdag 29 februari 2026", "Tuesday, February 30, 2027",
        "Versie 1.10.26", "goede morgen", "2019 - 2020", "1234 AB 12", "80-32-89-89", "mar", "do I have the money",
        "the second half of 2025", "25:12", "in them", "2 x 3:1", "24 uur per dag", "1 may be",
    ],
)  # fmt: skip
def test_what_is_no_date_is_refused(text: str) -> None:
    assert parse_moment(text, SUNDAY) is None


def test_a_missing_year_is_the_coming_one_unless_the_day_is_not_long_past() -> None:
    assert shown("3 januari") == ("2027-01-03", "day", "")
    assert shown("1 november") == ("2026-11-01", "day", "")


def test_a_weekday_tells_which_year_is_meant() -> None:
    moment = parse_moment("woensdag 10 juni", SUNDAY)  # of 2026, five months ago; 2027 has a Thursday
    assert moment is not None
    assert (moment.day, moment.weekday_agrees, moment.year_given) == (date(2026, 6, 10), True, False)


def test_a_weekday_that_contradicts_a_full_date_is_told() -> None:
    moment = parse_moment("maandag 20 november 2026", SUNDAY)
    assert moment is not None
    assert moment.weekday_agrees is False


def test_several_dates_are_several_moments() -> None:
    assert [moment.day.day for moment in parse_moments("12, 14 en 16 mei 2027, 20:00 uur", SUNDAY)] == [12, 14, 16]


def test_a_whole_day_is_told_from_an_unknown_hour() -> None:
    whole, unknown = parse_moment("3 december 2026 hele dag", SUNDAY), parse_moment("3 december 2026", SUNDAY)
    assert whole is not None
    assert unknown is not None
    assert (whole.all_day, unknown.all_day) == (True, False)


def test_a_part_of_a_day_has_no_time() -> None:
    moment = parse_moment("morgenavond", SUNDAY)
    assert moment is not None
    assert (moment.grain, moment.time) == (Grain.PART, None)


def test_a_time_without_a_date_is_todays_and_says_so() -> None:
    moment = parse_moment("20:30 uur", SUNDAY)
    assert moment is not None
    assert (moment.day, moment.date_given) == (date(2026, 11, 15), False)


def test_an_hour_that_comes_twice_is_the_first_of_them() -> None:
    moment = parse_moment("25 oktober 2026 02:30", SUNDAY)
    assert moment is not None
    assert moment.starts.isoformat() == "2026-10-25T02:30:00+02:00"


def test_an_hour_that_is_skipped_is_the_one_the_clocks_show() -> None:
    moment = parse_moment("29 maart 2026 02:30", SUNDAY)
    assert moment is not None
    assert moment.starts.isoformat() == "2026-03-29T03:30:00+02:00"


def test_the_day_is_the_zones_own() -> None:
    late = datetime(2026, 11, 15, 23, 30, tzinfo=UTC)
    moment = parse_moment("vandaag", late, "Europe/Amsterdam")
    assert moment is not None
    assert moment.day == date(2026, 11, 16)


def test_a_zone_that_the_text_names_is_its_own() -> None:
    assert shown("Fri, 20 Nov 2026 07:00 UTC", "en") == ("2026-11-20T08:00", "minute", "")
    assert shown("Fri Nov 20 2026 22:45 GMT+0900", "en") == ("2026-11-20T14:45", "minute", "")


def test_other_languages_are_read_when_the_date_is_full() -> None:
    assert shown("15. Dezember 2026") == ("2026-12-15", "day", "")
    assert shown("15 Blabla 2026") is None


def test_digits_are_read_month_first_in_english_unless_told_otherwise() -> None:
    moment = parse_moment("4/12/2026", SUNDAY, language="en", day_first=True)
    assert moment is not None
    assert moment.day == date(2026, 12, 4)


def test_an_end_may_be_an_hour_alone() -> None:
    moment = parse_moment("2026-11-20T20:00", SUNDAY)
    assert moment is not None
    end = parse_end("22:30 uur", moment)
    assert end is not None
    assert end.isoformat() == "2026-11-20T22:30:00+01:00"


def test_moments_are_found_in_running_text_with_their_place() -> None:
    text = "De markt is op 5 december 2026 en weer op 12 december 2026."
    found = find_moments(text, SUNDAY)
    assert [text[one.begins : one.ends] for one in found] == ["5 december 2026", "12 december 2026"]
