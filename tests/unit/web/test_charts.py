"""Charts: round marks on the axes, words beside the picture, nothing that a name could break out of."""

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest

from tidemill.web.charts.drawing import MOST_POINTS, ChartBar, ChartLine, bar_chart, line_chart, sparkline
from tidemill.web.charts.scales import named_moments, ticks

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def points(*values: float) -> list[tuple[datetime, float]]:
    return [(NOON + timedelta(days=number), value) for number, value in enumerate(values)]


def svg(chart: str) -> ET.Element:
    start = chart.index("<svg")
    return ET.fromstring(chart[start : chart.index("</svg>") + 6])  # noqa: S314 - made by us a moment ago


def corners_of(image: ET.Element) -> list[str]:
    line = image.find("polyline")
    assert line is not None
    return (line.get("points") or "").split()


@pytest.mark.parametrize(
    ("low", "high", "marks"),
    [(0, 10, [0, 2.5, 5, 7.5, 10]), (3, 3, [2, 2.5, 3, 3.5, 4]), (0, 0, [0, 0.25, 0.5, 0.75, 1]),
     (999, 1001, [999, 999.5, 1000, 1000.5, 1001])],
)  # fmt: skip
def test_marks_on_an_axis_are_round_and_span_the_values(low: float, high: float, marks: list[float]) -> None:
    assert ticks(low, high) == marks


def test_a_sparkline_says_its_figures_to_those_who_do_not_see_it() -> None:
    image = svg(sparkline([0, 3, 12], "records a day"))
    assert image.get("role") == "img"
    assert image.get("aria-label") == "records a day: 0, 3, 12"
    assert image.find("polyline") is not None


def test_a_sparkline_of_nothing_is_a_flat_line() -> None:
    image = svg(sparkline([0, 0, 0], "records a day"))
    assert image.find("polyline") is None


def test_a_line_chart_has_axes_words_and_a_table() -> None:
    chart = line_chart([ChartLine("shop", points(10, 12.5, 9))], "Price", unit="EUR", stepped=True)
    image = svg(chart)
    assert image.get("aria-label") == ("Price: shop 10 on 2026-03-02, 9 on 2026-03-04, lowest 9, highest 12.50 EUR")
    assert [each.text for each in image.findall("text")][-2:] == ["4 Mar 00:00", "4 Mar 12:00"]
    assert chart.count("<tr>") == 4
    corners = corners_of(image)
    assert len(corners) == 5, "a price holds until it changes"


def test_bars_start_at_zero_and_carry_their_state() -> None:
    image = svg(bar_chart([ChartBar("Mon", 4, "good"), ChartBar("Tue", 2, "bad")], "Runs"))
    first, second = image.findall("rect")
    assert (first.get("class"), second.get("class")) == ("chart-bar good", "chart-bar bad")
    assert float(first.get("height") or 0) == 2 * float(second.get("height") or 0)


@pytest.mark.parametrize(
    "hostile", ['"><script>alert(1)</script>', "</svg><img src=x onerror=alert(1)>", "{0.__class__}"]
)
def test_names_cannot_break_out_of_a_chart(hostile: str) -> None:
    for chart in (
        sparkline([1, 2], hostile),
        line_chart([ChartLine(hostile, points(1, 2)), ChartLine("b", points(2, 3))], hostile, unit=hostile),
        bar_chart([ChartBar(hostile, 1)], hostile),
        line_chart([], hostile),
    ):
        assert "<script" not in chart
        assert "<img" not in chart
        assert "style=" not in chart, "the page policy allows no styles inside a page"


def test_a_long_series_is_thinned_and_keeps_its_extremes() -> None:
    values = [1.0] * 50_000
    values[31_234] = 99.0
    minutes = [(NOON + timedelta(minutes=number), value) for number, value in enumerate(values)]
    chart = line_chart([ChartLine("a", minutes)], "x")
    corners = corners_of(svg(chart))
    assert len(corners) <= MOST_POINTS
    assert "highest 99" in (svg(chart).get("aria-label") or "")


def test_values_that_are_no_numbers_are_left_out() -> None:
    assert "nan" not in line_chart([ChartLine("a", points(1, float("nan"), float("inf"), 2))], "x")
    assert "nothing yet" in bar_chart([ChartBar("a", float("nan"))], "x")


def test_moments_on_an_axis_are_named_by_how_far_they_are_apart() -> None:
    assert [name for _, name in named_moments(NOON, NOON + timedelta(hours=4))] == [
        "12:00", "13:00", "14:00", "15:00", "16:00",
    ]  # fmt: skip
    assert [name for _, name in named_moments(NOON, NOON + timedelta(days=14))][-1] == "16 Mar"
    assert named_moments(NOON, NOON) == [(NOON, "12:00")]
