"""Feasts that go by the moon fall on the days on which they were held, and observed days on theirs."""

from datetime import date

import pytest

from tidemill.reading.moments import sky
from tidemill.reading.moments.feasts import FEAST_NAMES, feast_in
from tidemill.reading.moments.moons import chinese, indian, islamic

HELD = {
    "diwali": "2013-11-03 2014-10-23 2015-11-11 2016-10-30 2017-10-19 2018-11-07 2019-10-27 2020-11-14 2021-11-04",
    "rama navami": "2017-04-04 2018-03-25 2019-04-13 2020-04-02 2021-04-21 2022-04-10 2023-03-30 2024-04-17",
    "ugadi": "2018-03-18 2019-04-06 2020-03-25 2021-04-13 2022-04-02 2023-03-22 2024-04-09 2025-03-30",
    "ganesh chaturthi": "2017-08-25 2018-09-13 2019-09-02 2020-08-22 2021-09-10 2022-08-31 2023-09-19 2024-09-07",
    "raksha bandhan": "2018-08-26 2019-08-15 2020-08-03 2021-08-22 2022-08-11 2023-08-30 2024-08-19 2025-08-09",
    "guru nanak jayanti": "2017-11-04 2018-11-23 2019-11-12 2020-11-30 2021-11-19 2022-11-08 2023-11-27 2024-11-15",
    "maha shivaratri": "2017-02-24 2018-02-13 2019-03-04 2020-02-21 2021-03-11 2022-03-01 2023-02-18 2024-03-08",
    "karva chauth": "2018-10-27 2019-10-17 2020-11-04 2021-10-24 2022-10-13 2023-11-01 2024-10-20 2025-10-10",
    "onam": "2013-09-16 2016-09-14 2017-09-04 2018-08-25 2019-09-11 2020-08-31 2021-08-21 2022-09-08 2025-09-05",
    "eid al-fitr": "1950-07-16 1988-05-16 2013-08-08 2015-07-17 2019-06-04 2021-05-13 2022-05-02 2024-04-10",
    "eid al-adha": "1974-01-03 1980-10-19 2018-08-21 2023-06-28 2024-06-16 2025-06-06",
    "ramadan": "1977-08-15 2018-05-16 2023-03-23 2024-03-11 2025-03-01 2050-05-22",
    "chinese new year": "2018-02-16 2019-02-05 2020-01-25 2021-02-12 2022-02-01 2023-01-22 2024-02-10 2025-01-29",
    "mid-autumn festival": "2018-09-24 2019-09-13 2020-10-01 2021-09-21 2023-09-29 2024-09-17 2025-10-06",
    "dragon boat festival": "2018-06-18 2019-06-07 2020-06-25 2021-06-14 2022-06-03 2023-06-22 2025-05-31",
    "earth hour": "2013-03-23 2016-03-19 2019-03-30",
    "world refugee day": "2024-06-20", "open monumentendag": "2025-09-13", "leids ontzet": "2025-10-03",
    "holy week": "2025-04-13",
}  # fmt: skip


@pytest.mark.parametrize(("name", "days"), HELD.items())
def test_a_feast_was_held_on_these_days(name: str, days: str) -> None:
    wanted = [date.fromisoformat(day) for day in days.split()]
    assert [feast[0] for day in wanted if (feast := feast_in(FEAST_NAMES.get(name, name), day.year))] == wanted


def test_every_feast_with_a_name_has_a_day_in_a_leap_year() -> None:
    assert [name for name, feast in FEAST_NAMES.items() if feast_in(feast, 2024) is None] == []


def test_leap_day_is_in_leap_years_only() -> None:
    assert feast_in(FEAST_NAMES["leap day"], 2025) is None


def test_the_sky_is_good_to_minutes() -> None:
    assert sky.day_at(sky.new_moon(0)) == date(2000, 1, 6)
    assert sky.day_at(sky.new_moon(-612)) == date(1950, 7, 15)  # 05:05 by the clocks of Greenwich
    assert sky.elongation(sky.julian_day(date(2019, 10, 27), 6 + 53 / 60)) == pytest.approx(348, abs=0.05)
    assert sky.sunset(date(2019, 3, 6), 21.42, 39.83) == pytest.approx(sky.julian_day(date(2019, 3, 6), 15.5), abs=0.01)


def test_a_month_that_comes_twice_counts_once() -> None:
    assert indian(2020, 7, 1) == date(2020, 10, 17)  # Ashvina came twice in 2020
    assert chinese(2023, 2, 1) == date(
        2023, 2, 20
    )  # in China the second month came twice in 2023, and the first counts
    assert chinese(2020, 5, 5) == date(2020, 6, 25)
    assert islamic(1446, 9, 1) == date(2025, 3, 1)
