"""The three charts: a sparkline, lines over time with axes, and bars.

Every chart is an image with words for people who do not see it. Colours come from classes that the style sheet
defines for light and dark, because the page policy allows no styles inside a page.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup, escape

from tidemill.web.charts.scales import Scale, bounds, named_moments, ticks, written

WIDTH, HEIGHT = 640.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 12.0, 12.0, 30.0
SPARK_WIDTH, SPARK_HEIGHT = 96.0, 22.0
MOST_POINTS = 2_000
"""More points than pixels show nothing more; a longer series is thinned."""
MOST_LINES = 6
WIDEST_BAR = 34.0
MARKED_POINTS = 120
"""Up to here each point can be pointed at; beyond, points would cover the line."""
MOST_ROWS = 400
"""The table below a chart lists the latest of its points, up to this many."""

Written = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line of a chart: its name, and its points in order of time."""

    name: str
    points: Sequence[tuple[datetime, float]]


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One bar: its name, its value, and a state such as `good` or `bad` that gives it a colour."""

    name: str
    value: float
    state: str = "plain"


def sparkline(values: Sequence[float], label: str) -> Markup:
    """Return a line as high as a line of text; `label` says what it shows, and the figures are added to it."""
    kept = _finite(values)
    said = f"{label}: {', '.join(written(each) for each in kept)}" if kept else f"{label}: nothing yet"
    if not any(kept):
        return _image(SPARK_WIDTH, SPARK_HEIGHT, said, _flat(), "spark")
    low, high = bounds(kept, from_zero=True)
    across = Scale(0, max(1, len(kept) - 1), 2, SPARK_WIDTH - 3)
    down = Scale(low, high, SPARK_HEIGHT - 3, 3)
    places = [(across.place(number), down.place(value)) for number, value in enumerate(kept)]
    x, y = places[-1]
    drawn = _polyline(places, "chart-line l0") + Markup('<circle class="chart-dot l0" cx="{}" cy="{}" r="2"/>').format(
        x, y
    )
    return _image(SPARK_WIDTH, SPARK_HEIGHT, said, drawn, "spark")


def line_chart(
    lines: Sequence[ChartLine], label: str, *, unit: str = "", stepped: bool = False, from_zero: bool = False,
    write: Written = written,
) -> Markup:  # fmt: skip
    """Return lines over time with axes, and the same as a table that opens below.

    `stepped` draws what holds until it changes, such as a price. `write` formats a value for axis and table.
    """
    shown = [ChartLine(each.name, _thinned(each.points)) for each in lines[:MOST_LINES]]
    shown = [each for each in shown if each.points]
    if not shown:
        return _empty(label)
    moments = [at for line in shown for at, _ in line.points]
    values = [value for line in shown for _, value in line.points]
    marks = ticks(*bounds(values, from_zero=from_zero))
    first, last = min(moments), max(moments)
    across = Scale(first.timestamp(), last.timestamp(), LEFT, WIDTH - RIGHT)
    down = Scale(marks[0], marks[-1], HEIGHT - BOTTOM, TOP)
    drawn = _value_axis(marks, down, write, whole=_are_whole(values)) + _time_axis(first, last, across)
    for number, line in enumerate(shown):
        drawn += _line(line, number, across, down, write, stepped=stepped)
    figure = _image(WIDTH, HEIGHT, _line_words(label, shown, unit, write), drawn, "chart")
    return _figure(figure, _legend(shown), _line_table(shown, label, unit, write))


def bar_chart(bars: Sequence[ChartBar], label: str, *, unit: str = "", write: Written = written) -> Markup:
    """Return upright bars from zero, named below where there is room, and the same as a table that opens below."""
    shown = [each for each in bars if math.isfinite(each.value)][-MOST_POINTS:]
    if not shown:
        return _empty(label)
    marks = ticks(*bounds([each.value for each in shown], from_zero=True))
    down = Scale(marks[0], marks[-1], HEIGHT - BOTTOM, TOP)
    room = (WIDTH - LEFT - RIGHT) / len(shown)
    drawn = _value_axis(marks, down, write, whole=_are_whole(each.value for each in shown))
    every = max(1, math.ceil(len(shown) / 8))
    for number, bar in enumerate(shown):
        drawn += _bar(bar, LEFT + room * number, room, down, write)
        if number % every == 0:
            drawn += _text(LEFT + room * (number + 0.5), HEIGHT - 10, bar.name[:12], "middle")
    total = write(sum(each.value for each in shown))
    said = f"{label}: {len(shown)} bars, {total} {unit} in all".strip()
    return _figure(_image(WIDTH, HEIGHT, said, drawn, "chart"), Markup(), _bar_table(shown, label, unit, write))


def _are_whole(values: Iterable[float]) -> bool:
    return all(value == int(value) for value in values)


def _finite(values: Iterable[float]) -> list[float]:
    return [float(each) for each in values if math.isfinite(each)]


def _thinned(points: Sequence[tuple[datetime, float]]) -> list[tuple[datetime, float]]:
    """Return at most `MOST_POINTS` points; the lowest and highest of each part that is left out stay."""
    finite = [(at, float(value)) for at, value in points if math.isfinite(value)]
    if len(finite) <= MOST_POINTS:
        return finite
    size = math.ceil(len(finite) / (MOST_POINTS // 2))
    kept: list[tuple[datetime, float]] = []
    for start in range(0, len(finite), size):
        part = finite[start : start + size]
        kept += sorted({min(part, key=lambda each: each[1]), max(part, key=lambda each: each[1])})
    return kept


def _line(line: ChartLine, number: int, across: Scale, down: Scale, write: Written, *, stepped: bool) -> Markup:
    places = [(across.place(at.timestamp()), down.place(value)) for at, value in line.points]
    drawn = _polyline(_steps(places) if stepped else places, f"chart-line l{number}")
    if len(places) > MARKED_POINTS:
        return drawn
    for (x, y), (at, value) in zip(places, line.points, strict=True):
        said = f"{line.name}: {write(value)}, {at:%Y-%m-%d %H:%M}"
        drawn += Markup('<circle class="chart-dot l{}" cx="{}" cy="{}" r="3"><title>{}</title></circle>').format(
            number, x, y, said
        )
    return drawn


def _steps(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    stepped = [places[0]]
    for x, y in places[1:]:
        stepped += [(x, stepped[-1][1]), (x, y)]
    return stepped


def _polyline(places: Iterable[tuple[float, float]], classes: str) -> Markup:
    points = " ".join(f"{x:g},{y:g}" for x, y in places)
    return Markup('<polyline class="{}" points="{}"/>').format(classes, points)


def _bar(bar: ChartBar, x: float, room: float, down: Scale, write: Written) -> Markup:
    top, base = sorted((down.place(bar.value), down.place(0)))
    width = round(min(room * 0.8, WIDEST_BAR), 1)
    return Markup(
        '<rect class="chart-bar {}" x="{}" y="{}" width="{}" height="{}"><title>{}: {}</title></rect>'
    ).format(bar.state, round(x + (room - width) / 2, 1), top, width, round(base - top, 1), bar.name, write(bar.value))


def _value_axis(marks: Sequence[float], down: Scale, write: Written, *, whole: bool = False) -> Markup:
    """Return the lines of the axis; what is counted in whole numbers has no marks between them."""
    drawn = Markup()
    for mark in marks if not whole else [each for each in marks if each == int(each)]:
        y = down.place(mark)
        drawn += Markup('<line class="chart-grid" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(LEFT, WIDTH - RIGHT, y, y)
        drawn += _text(LEFT - 8, y + 4, write(mark), "end")
    return drawn


def _time_axis(first: datetime, last: datetime, across: Scale) -> Markup:
    drawn, named = Markup(), named_moments(first, last)
    for number, (moment, name) in enumerate(named):
        anchor = "middle" if 0 < number < len(named) - 1 or len(named) == 1 else "start" if number == 0 else "end"
        drawn += _text(across.place(moment.timestamp()), HEIGHT - 10, name, anchor)
    return drawn


def _text(x: float, y: float, words: str, anchor: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(round(x, 1), round(y, 1), anchor, words)


def _flat() -> Markup:
    y = SPARK_HEIGHT - 3
    return Markup('<line class="chart-grid" x1="2" x2="{}" y1="{}" y2="{}"/>').format(SPARK_WIDTH - 3, y, y)


def _image(width: float, height: float, said: str, drawn: Markup, kind: str) -> Markup:
    return Markup('<svg class="{}" role="img" aria-label="{}" viewBox="0 0 {:g} {:g}">{}</svg>').format(
        kind, said[:600], width, height, drawn
    )


def _figure(image: Markup, legend: Markup, table: Markup) -> Markup:
    return Markup('<figure class="chart-figure">{}{}{}</figure>').format(image, legend, table)


def _legend(lines: Sequence[ChartLine]) -> Markup:
    if len(lines) < 2:  # noqa: PLR2004 - one line needs no legend
        return Markup()
    names = Markup().join(
        Markup('<li><span class="chart-key l{}"></span>{}</li>').format(number, each.name)
        for number, each in enumerate(lines)
    )
    return Markup('<ul class="chart-legend">{}</ul>').format(names)


def _line_words(label: str, lines: Sequence[ChartLine], unit: str, write: Written) -> str:
    return "; ".join(f"{label}: {_course(each, unit, write)}" for each in lines)


def _course(line: ChartLine, unit: str, write: Written) -> str:
    values = [value for _, value in line.points]
    (began, first), (ended, last) = line.points[0], line.points[-1]
    low, high = write(min(values)), write(max(values))
    words = f"{write(first)} on {began:%Y-%m-%d}, {write(last)} on {ended:%Y-%m-%d}, lowest {low}, highest {high}"
    return f"{line.name} {words} {unit}".strip()


def _line_table(lines: Sequence[ChartLine], label: str, unit: str, write: Written) -> Markup:
    listed = sorted(((at, line.name, value) for line in lines for at, value in line.points), reverse=True)
    rows = [(f"{at:%Y-%m-%d %H:%M}", name, write(value)) for at, name, value in listed[:MOST_ROWS]]
    return _table(label, ("when (UTC)", "what", unit or "value"), rows)


def _bar_table(bars: Sequence[ChartBar], label: str, unit: str, write: Written) -> Markup:
    rows = [(each.name, each.state if each.state != "plain" else "", write(each.value)) for each in bars[-MOST_ROWS:]]
    return _table(label, ("what", "state", unit or "value"), rows)


def _table(label: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    head = Markup().join(Markup('<th scope="col">{}</th>').format(each) for each in headings)
    body = Markup().join(
        Markup("<tr>{}</tr>").format(Markup().join(Markup("<td>{}</td>").format(cell) for cell in row)) for row in rows
    )
    return Markup(
        '<details class="chart-table"><summary>As a table</summary>'
        '<div class="scroll" tabindex="0" role="region" aria-label="{}">'
        "<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div></details>"
    ).format(label, head, body)


def _empty(label: str) -> Markup:
    return Markup('<p class="empty">{}: nothing yet.</p>').format(escape(label))
