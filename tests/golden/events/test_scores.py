"""How well pages and phrases are read that nobody here wrote; run with -s to see the scores."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tidemill.reading import Document, Grain, Moment, ReadingContext, parse_moment
from tidemill.reading.jsonld import blocks, objects
from tidemill.reading.microdata import items
from tidemill.verticals.events.reading.events import read_events
from tidemill.verticals.events.reading.schema_events import NESTED, is_event

FIXTURES = Path(__file__).parents[4] / "shared" / "fixtures"
ZONES = {
    "philly": "America/New_York", "akr": "America/New_York", "charnc": "America/New_York", "stl": "America/Chicago",
    "omaha": "America/Chicago", "colgo": "America/Los_Angeles", "indianapolis": "America/Indiana/Indianapolis",
}  # fmt: skip

pytestmark = pytest.mark.skipif(not FIXTURES.exists(), reason="the shared fixtures are not beside the project")


def words(text: str) -> str:
    return " ".join("".join(character if character.isalnum() else " " for character in text.casefold()).split())


def is_titled(expected: str, titles: set[str]) -> bool:
    return any(words(expected) in title for title in titles)


def test_city_calendars() -> None:
    """The right day for 70 % of the answerable starts and the title for half of them, without a crash."""
    days, titles = [], []
    for path in sorted((FIXTURES / "events").glob("*/*.expected.json")):
        page = json.loads(path.read_text())
        markup = path.with_name(path.name.replace(".expected.json", ".html")).read_text(errors="replace")
        now = datetime.fromisoformat(page["now"] or "2022-01-01").replace(hour=12, tzinfo=UTC)
        context = ReadingContext(now=now, time_zone=ZONES[path.parent.name.rpartition("-")[2]], language="en")
        found = read_events(Document(markup, page["url"]), context)
        assert not any("Error" in note for note in found.notes), (path.name, found.notes)
        read_titles = {words(str(record.fields.get("title", ""))) for record in found.records}
        read_days = {_day(str(record.fields.get("starts", "")), context) for record in found.records}
        for item in page["items"] or []:
            if item["answerable"] and item["field"] == "start":
                days.append(item["value"][:10] in read_days)
            elif item["answerable"] and item["field"] == "title":
                titles.append(is_titled(item["value"], read_titles))
    print(f"\ncity calendars: day {sum(days)}/{len(days)}, title {sum(titles)}/{len(titles)}")  # noqa: T201
    assert sum(days) >= 0.9 * len(days)
    assert sum(titles) >= 0.7 * len(titles)


def _day(starts: str, context: ReadingContext) -> str:
    moment = parse_moment(starts, context.now, context.time_zone, context.language)
    return moment.day.isoformat() if moment else ""


@pytest.mark.shows("E2")
@pytest.mark.parametrize(("language", "least"), [("nl", 0.9), ("en", 0.85)])
def test_phrases(language: str, least: float) -> None:
    """Phrases that are dates, and none that is no date."""
    right = []
    for case in json.loads((FIXTURES / "dates" / f"{language}.json").read_text()):
        given, expected = case["input"], case["expected"]
        moment = parse_moment(given["text"], datetime.fromisoformat(given["now"]), language=language)
        if expected is None:
            assert moment is None, given["text"]
        else:
            right.append(moment is not None and _agrees(moment, expected))
    print(f"\nphrases in {language}: {sum(right)}/{len(right)}")  # noqa: T201
    assert sum(right) >= least * len(right)


def _agrees(moment: Moment, expected: dict[str, Any]) -> bool:
    """The same minute, or the same day where we claim no more; and the same last day."""
    length = 16 if moment.grain in {Grain.MINUTE, Grain.PART} else 10
    written = moment.starts.replace(tzinfo=None).isoformat()[:length]
    if expected["end"] and (moment.ends is None or moment.ends.date().isoformat() != expected["end"][:10]):
        return False
    return any(start[:length] == written for start in expected["start"])


def test_structured_data() -> None:
    """Every object that extruct finds on these pages, broken blocks and all."""
    checked = 0
    for path in sorted((FIXTURES / "structured").glob("*.*.expected.json")):
        name, kind = path.name.removesuffix(".expected.json").rsplit(".", 1)
        document = Document(path.with_name(f"{name}.html").read_text(errors="replace"), "http://www.example.com/")
        expected = json.loads(path.read_text())
        by_kind = expected if isinstance(expected, dict) and "json-ld" in expected else {kind: expected}
        read = [value for block in blocks(document) for value in _flat(block.value)]
        for wanted in _flat(by_kind.get("json-ld", [])):
            assert wanted in read, path.name
            checked += 1
        types = [_first(item.get("@type")) for item in items(document)]
        for wanted in _flat(by_kind.get("microdata", [])):
            assert _first(wanted.get("type")) in types, path.name
            checked += 1
    print(f"\nstructured data: {checked} objects")  # noqa: T201
    assert checked


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict) and set(value) == {"items"}:
        value = value["items"]
    found = [one for item in value for one in _flat(item)] if isinstance(value, list) else [value]
    return [one for one in found if one]


def _first(kind: Any) -> Any:
    return kind[0] if isinstance(kind, list) else kind


def test_schema_org_examples() -> None:
    """Schema.org's own examples of events, in two spellings: every start date that they name."""
    found, missed = 0, []
    for example in json.loads((FIXTURES / "structured" / "schemaorg_events.json").read_text()):
        for spelling in ("jsonld", "microdata"):
            document = Document(example["input"][spelling] or "", "https://example.org/")
            values = [block.value for block in blocks(document)] if spelling == "jsonld" else items(document)
            events = [event for value in values for _, event in objects(value, is_event, NESTED)]
            starts = {str(event.get("startDate")) for event in events}
            for start in filter(None, example["expected"]["startDates"]):
                found += start in starts
                missed += [] if start in starts else [(example["id"], spelling, start)]
    print(f"\nschema.org examples: {found} starts, missed {missed}")  # noqa: T201
    assert len(missed) <= 1, missed
