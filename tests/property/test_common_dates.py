"""What the quick pattern says of a date, the grammar says too: in any language that is known, however it is written."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tidemill.reading.moments.common import _MONTHS, _WEEKDAYS, parse_common
from tidemill.reading.moments.reader import _COMMON_LANGUAGES, parse_moments

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Amsterdam")
DAYS = ("{day} {month}", "{day}. {month}", "{month} {day},", "{month} {day}", "{day} {month}.", "{month} {day}th,")
HOURS = (
    "", "{0:%H:%M}", "{0:%H:%M} uur", "{0:%H.%M} uur", "{0:%H:%M} Uhr", "{0:%H.%M} Uhr", "{0:%H} Uhr",
    "{0:%I:%M %p}", "{0:%I:%M%p}", "{0:%I %p}", "{0:%I.%M %p}",
)  # fmt: skip


@st.composite
def dates(draw: st.DrawFn) -> str:
    day = draw(st.dates(date(2026, 1, 1), date(2027, 12, 31)))
    month = draw(st.sampled_from([name for name, number in _MONTHS.items() if number == day.month]))
    weekday = draw(st.sampled_from([name for name, number in _WEEKDAYS.items() if number == day.weekday()]))
    hour = draw(st.sampled_from(HOURS)).format(time(draw(st.integers(0, 23)), draw(st.sampled_from([0, 5, 30, 59]))))
    before = draw(st.sampled_from(["", f"{weekday} ", f"{weekday}, ", f"{weekday.title()}. "]))
    year = draw(st.sampled_from(["", f" {day.year}"]))
    joint = draw(st.sampled_from([" ", ", ", " om ", ", at ", " um ", " \u00e0 "])) if hour else ""
    return before + draw(st.sampled_from(DAYS)).format(day=day.day, month=month) + year + joint + hour


@settings(max_examples=300)
@given(dates(), st.sampled_from(sorted(_COMMON_LANGUAGES)))
@example("Saturday, November 28, 2026 at 8:30 PM", "en")
@example("Sa, 28. November 2026, 20:30 Uhr", "de")
def test_the_grammar_agrees_with_the_quick_pattern(text: str, language: str) -> None:
    quick = parse_common(text, (NOW + timedelta(hours=1)).date(), ZONE)
    if quick is not None:
        assert parse_moments(text, NOW, "Europe/Amsterdam", language)[:1] == [quick]


def test_common_dates_of_other_languages_need_no_grammar() -> None:
    for text in (
        "Sa, 28. November 2026, 20:30 Uhr",
        "Saturday, November 28, 2026 at 8:30 PM",
        "samedi 28 novembre 2026",
    ):
        assert parse_common(text, NOW.date(), ZONE) is not None
