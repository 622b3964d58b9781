"""Scores of saved pages and phrases: right answers of those given and of those wanted, each half apart."""

import json
from pathlib import Path
from typing import Any

from tidemill.operations.scoring.phrases import date_scores, money_scores
from tidemill.operations.scoring.score import JUDGED, TUNED, Score, Tally, half_of
from tidemill.verticals.events.scoring import event_scores, site_of

PAGE = """<h1>Raadsvergadering</h1><p>Datum: dinsdag 3 maart 2026</p><p>Tijd: 20:00 uur</p><p>Locatie: Raadzaal</p>"""


def phrase(text: str, start: str | None, *, end: str | None = None, grain: str = "day") -> dict[str, Any]:
    expected = {"start": [start], "end": end, "grain": grain} if start else None
    given = {"text": text, "now": "2026-02-12T04:30:00"}
    return {"id": text, "input": given, "expected": expected, "meta": {"suite": "ours"}}


def written(folder: Path, name: str, value: object) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


def total(scores: list[Score], what: str) -> tuple[int, int, int]:
    chosen = [one for one in scores if one.what == what]
    return sum(one.right for one in chosen), sum(one.read for one in chosen), sum(one.of for one in chosen)


def test_precision_counts_answers_given_and_recall_answers_wanted():
    tally = Tally()
    tally.add("dates", TUNED, right=1)
    tally.add("dates", TUNED, right=0)
    tally.add("dates", TUNED, right=0, read=0)
    (score,) = tally.scores()
    assert (score.precision, round(score.recall, 3)) == (0.5, 0.333)


def test_pages_of_one_site_are_in_one_half_and_both_halves_are_used():
    assert half_of(site_of("https://www.town.example/a")) == half_of(site_of("https://agenda.town.example/b"))
    assert {half_of(f"site{number}.example") for number in range(20)} == {TUNED, JUDGED}


def test_a_phrase_that_is_read_wrongly_costs_precision_and_one_that_is_not_read_only_recall(tmp_path):
    cases = [
        phrase("3 maart 2026", "2026-03-03T00:00:00"),
        phrase("4 maart 2026", "2026-03-05T00:00:00"),
        phrase("wie weet wanneer", "2026-03-06T00:00:00"),
        phrase("geen datum", None),
    ]
    scores = date_scores(written(tmp_path, "dates/nl.json", cases))
    assert total(scores, "nl dates: single") == (1, 2, 3)
    assert total(scores, "nl phrases that are no date: refused") == (1, 1, 1)


def test_an_hour_that_is_wanted_is_not_satisfied_by_the_day(tmp_path):
    cases = [phrase("3 maart 2026", "2026-03-03T20:00:00", grain="hour")]
    assert total(date_scores(written(tmp_path, "more/dates/nl.json", cases)), "nl dates: single") == (0, 1, 1)


def test_money_is_scored_by_amount_and_with_its_currency(tmp_path):
    cases = [{"id": "ours:1:€ 5", "input": "€ 5", "expected": [{"amount": "5", "unit": "EUR"}], "meta": {}}]
    scores = money_scores(written(tmp_path, "money/nl.json", cases))
    assert total(scores, "nl money in running text: amount and currency") == (1, 1, 1)


def test_a_page_is_scored_by_day_minute_title_place_and_number(tmp_path):
    items = [
        {"index": 0, "field": "start", "value": "2026-03-03T20:00:00", "answerable": True},
        {"index": 0, "field": "title", "value": "Raadsvergadering", "answerable": True},
        {"index": 0, "field": "location", "value": {"name": "Raadzaal", "address": ""}, "answerable": True},
        {"index": 0, "field": "title", "value": "Not on the page", "answerable": False},
    ]
    expected = {"url": "https://town.example/a", "now": "2026-02-12", "language": "nl", "count": 1, "items": items}
    written(tmp_path, "events/town/a.expected.json", expected)
    scores = event_scores(written(tmp_path, "events/town/a.html", PAGE), "Europe/Amsterdam")
    for what in ("start, the day", "start, the minute", "title", "place", "number on the page"):
        assert total(scores, f"events: {what}") == (1, 1, 1), what
    assert [score.right for score in scores if score.what.startswith("confidence")] == [1]
