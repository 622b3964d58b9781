"""Scores of phrases: dates, and amounts of money in running text.

`dates/LANGUAGE.json`: cases of `input` (text, now) and `expected` (start, grain, end), null for what is no date.
`money/LANGUAGE.json`: cases of `input`, a text, and `expected`, its amounts with their units.
"""

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from tidemill.operations.scoring.score import Score, Tally, cases_in, half_of
from tidemill.reading import Moment, parse_moment
from tidemill.reading.money import parse_money

_MINUTE, _DAY = 16, 10
_FINE = frozenset({"hour", "minute", "second"})
_NAMED_UNITS = {"Dollar": "USD", "Pound": "GBP"}


def date_scores(folder: Path) -> list[Score]:
    """Single dates and the starts of ranges, each to the minute or day that is wanted; and what is no date."""
    tally = Tally()
    for language, case in cases_in(folder, "dates"):
        given, expected = case["input"], case["expected"]
        half = half_of(case_key(case))
        moment = parse_moment(given["text"], datetime.fromisoformat(given["now"]), language=language)
        if expected is None:
            tally.add(f"{language} phrases that are no date: refused", half, right=moment is None)
            continue
        what = f"{language} dates: {'start of a range' if expected['end'] else 'single'}"
        right = moment is not None and starts_as_expected(moment, expected)
        tally.add(what, half, right=right, read=moment is not None)
        if expected["end"]:
            ended = right and moment is not None and ends_as_expected(moment, expected)
            tally.add(f"{language} dates: end of a range", half, right=ended, read=moment is not None)
    return tally.scores()


def case_key(case: dict[str, Any]) -> str:
    """What a phrase is filed under: its suite and what it means, so that paraphrases are in one half."""
    expected = case["expected"]
    meaning = f"{expected['start'][0]} {expected['end']}" if expected else case["input"]["text"]
    return f"{case['meta'].get('suite', '')} {meaning}"


def starts_as_expected(moment: Moment, expected: dict[str, Any]) -> bool:
    """Whether a moment starts at the wanted minute, or on the wanted day where no more is wanted."""
    length = _MINUTE if expected["grain"] in _FINE else _DAY
    written = moment.starts.replace(tzinfo=None).isoformat()[:length]
    return any(start[:length] == written for start in expected["start"])


def ends_as_expected(moment: Moment, expected: dict[str, Any]) -> bool:
    """Whether a moment ends on the wanted day; suites differ in whether an end is the last day or the one after."""
    if moment.ends is None:
        return False
    last, wanted = moment.ends.replace(tzinfo=None), datetime.fromisoformat(expected["end"])
    return last.date() == wanted.date() or abs((wanted - last).total_seconds()) <= 24 * 3600 + 60


def money_scores(folder: Path) -> list[Score]:
    """Amounts of money in running text: the amount, and the amount with its currency."""
    tally = Tally()
    for language, case in cases_in(folder, "money"):
        wanted, half = case["expected"][0], half_of(case["id"].rpartition(":")[0])
        found = parse_money(case["input"])
        read = found is not None
        amount, unit = Decimal(wanted["amount"]), wanted["unit"]
        if unit == "Cent":
            amount /= 100
        right = found is not None and found.amount == amount
        tally.add(f"{language} money in running text: amount", half, right=right, read=read)
        code = _NAMED_UNITS.get(unit, unit)
        if code.isupper():
            named = right and found is not None and found.currency == code
            tally.add(f"{language} money in running text: amount and currency", half, right=named, read=read)
    return tally.scores()
