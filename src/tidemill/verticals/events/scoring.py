"""Scores the reading library on a folder of pages and phrases with known answers.

`events/**/*.expected.json` beside their `.html`: `url`, `now` and `items` of `field` (start or title), `value` and
`answerable`. `dates/LANGUAGE.json`: cases of `input` (text, now) and `expected` (start, end), null for what is no date.
`structured/NAME.KIND.expected.json` beside `NAME.html`: the objects that the page's structured data holds.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from tidemill.operations.mistakes import Mistake
from tidemill.reading import Document, Grain, Moment, ReadingContext, parse_moment
from tidemill.reading.jsonld import blocks
from tidemill.reading.microdata import items
from tidemill.verticals.events.reading.events import read_events

_MINUTE, _DAY = 16, 10


class Score(msgspec.Struct, frozen=True):
    """How many of all cases were read correctly."""

    what: str
    right: int
    of: int

    @property
    def share(self) -> float:
        """The share of correct cases, from 0 to 1."""
        return self.right / self.of if self.of else 0.0


def score(folder: Path, time_zone: str) -> list[Score]:
    """Score everything in the folder; `time_zone` is that of its event pages."""
    found = [*_pages(folder / "events", time_zone), *_phrases(folder / "dates"), *_structured(folder / "structured")]
    if not found:
        msg = f"there is nothing to score in {folder}: no events, dates or structured with expected answers"
        raise Mistake(msg)
    return found


def _pages(folder: Path, time_zone: str) -> Iterator[Score]:
    days, titles, crashed, pages = [], [], 0, 0
    for path in sorted(folder.rglob("*.expected.json")):
        pages += 1
        page = json.loads(path.read_text("utf-8"))
        markup = path.with_name(path.name.replace(".expected.json", ".html")).read_text("utf-8", "replace")
        now = datetime.fromisoformat(page.get("now") or "2022-01-01").replace(hour=12, tzinfo=UTC)
        context = ReadingContext(now=now, time_zone=time_zone, language=page.get("language", "en"))
        found = read_events(Document(markup, page["url"]), context)
        crashed += any("Error" in note for note in found.notes)
        read = {_words(str(record.fields.get("title", ""))) for record in found.records}
        on = {_day(str(record.fields.get("starts", "")), context) for record in found.records}
        for item in (each for each in page.get("items") or [] if each["answerable"]):
            if item["field"] == "start":
                days.append(item["value"][:_DAY] in on)
            elif item["field"] == "title":
                titles.append(any(_words(item["value"]) in title for title in read))
    if pages:
        yield Score("pages of events: right day", sum(days), len(days))
        yield Score("pages of events: title", sum(titles), len(titles))
        yield Score("pages of events: read without a crash", pages - crashed, pages)


def _phrases(folder: Path) -> Iterator[Score]:
    for path in sorted(folder.glob("*.json")):
        right, refused = [], []
        for case in json.loads(path.read_text("utf-8")):
            given, expected = case["input"], case["expected"]
            moment = parse_moment(given["text"], datetime.fromisoformat(given["now"]), language=path.stem)
            if expected is None:
                refused.append(moment is None)
            else:
                right.append(moment is not None and agrees(moment, expected))
        yield Score(f"phrases in {path.stem}: the moment", sum(right), len(right))
        yield Score(f"phrases in {path.stem}: no date, and not read as one", sum(refused), len(refused))


def agrees(moment: Moment, expected: dict[str, Any]) -> bool:
    """Return whether a moment matches: the same minute, or day if it has no time, and the same last day."""
    length = _MINUTE if moment.grain in {Grain.MINUTE, Grain.PART} else _DAY
    written = moment.starts.replace(tzinfo=None).isoformat()[:length]
    if expected["end"] and (moment.ends is None or moment.ends.date().isoformat() != expected["end"][:_DAY]):
        return False
    return any(start[:length] == written for start in expected["start"])


def _structured(folder: Path) -> Iterator[Score]:
    right: dict[str, list[bool]] = {"json-ld": [], "microdata": []}
    for path in sorted(folder.glob("*.*.expected.json")):
        name, kind = path.name.removesuffix(".expected.json").rsplit(".", 1)
        document = Document(path.with_name(f"{name}.html").read_text("utf-8", "replace"), "http://www.example.com/")
        expected = json.loads(path.read_text("utf-8"))
        by_kind = expected if isinstance(expected, dict) and "json-ld" in expected else {kind: expected}
        read = [value for block in blocks(document) for value in _flat(block.value)]
        right["json-ld"] += [wanted in read for wanted in _flat(by_kind.get("json-ld", []))]
        types = [_first(item.get("@type")) for item in items(document)]
        right["microdata"] += [_first(each.get("type")) in types for each in _flat(by_kind.get("microdata", []))]
    for kind, found in right.items():
        if found:
            yield Score(f"structured data: objects of {kind}", sum(found), len(found))


def _day(starts: str, context: ReadingContext) -> str:
    moment = parse_moment(starts, context.now, context.time_zone, context.language)
    return moment.day.isoformat() if moment else ""


def _words(text: str) -> str:
    return " ".join("".join(letter if letter.isalnum() else " " for letter in text.casefold()).split())


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict) and set(value) == {"items"}:
        value = value["items"]
    found = [one for item in value for one in _flat(item)] if isinstance(value, list) else [value]
    return [one for one in found if one]


def _first(kind: Any) -> Any:
    return kind[0] if isinstance(kind, list) else kind
