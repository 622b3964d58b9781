"""Scores the reading of events on saved pages with known answers, and how far its confidence can be believed.

`events/**/*.expected.json` beside their `.html`: `url`, `now`, and `items` of `index`, `field` (start, title or
location), `value` and `answerable`; `count` is how many events the page lists, where that is known.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tidemill.core.record import RawRecord
from tidemill.operations.scoring.score import BOTH, Score, Tally, confidence_band, expectations_in, half_of
from tidemill.reading import Document, ReadingContext, parse_moment
from tidemill.verticals.events.categories import category_of, category_of_section
from tidemill.verticals.events.lab.sites import VOCABULARIES
from tidemill.verticals.events.reading.events import read_events

_MINUTE, _DAY = 16, 10
_NO_DAY = "2022-01-01"


def event_scores(folder: Path, time_zone: str) -> list[Score]:
    """Days, minutes, titles, places and numbers of events on saved pages, and the days right by confidence."""
    tally = Tally()
    for page, expected in expectations_in(folder, "events"):
        _score_page(page, expected, time_zone, tally)
    scores = tally.scores()
    return sorted([*scores, *category_scores()] if scores else [], key=_calibration_last)


def category_scores() -> list[Score]:
    """Whether titles of the lab's agenda pages get the category that the page's section names."""
    tally = Tally()
    for vocabulary in VOCABULARIES.values():
        for topic in vocabulary.topics:
            address = f"https://town.example/agenda{topic.path}"
            section = category_of_section(address)
            if section is None:
                continue
            for title in topic.titles:
                right = category_of("", "", title, "", category_of_section(address)) is section
                by_words = category_of("", "", title, "") is section
                half = half_of(f"{vocabulary.language} {topic.path} {title}")
                tally.add("category: agrees with the site's section (lab)", half, right=right)
                tally.add("category: by the title's words alone (lab)", half, right=by_words)
    return tally.scores()


def _calibration_last(score: Score) -> str:
    return score.what if score.what.startswith("confidence") else ""


def _score_page(path: Path, page: dict[str, Any], time_zone: str, tally: Tally) -> None:
    url = page["url"] or ""
    half = half_of(site_of(url) or path.stem)
    context = context_of(page, time_zone)
    found = read_events(Document(path.read_text("utf-8", "replace"), url), context)
    crashed = any("Error" in note for note in found.notes)
    tally.add("pages of events: read without a crash", half, right=not crashed)
    starts = [_starts(record, context) for record in found.records]
    titles = [words(str(record.fields.get("title", ""))) for record in found.records]
    places = [words(f"{record.fields.get('place', '')} {record.fields.get('address', '')}") for record in found.records]
    for item in (each for each in page.get("items") or [] if each["answerable"]):
        value, read = item["value"], bool(found.records)
        match item["field"]:
            case "start":
                day = any(start[:_DAY] == value[:_DAY] for start in starts)
                tally.add("events: start, the day", half, right=day, read=read)
                tally.add("events: start, the minute", half, right=value[:_MINUTE] in starts, read=read)
                _calibrate(found.records, starts, value, tally)
            case "title":
                tally.add("events: title", half, right=any(words(value) in one for one in titles), read=read)
            case "location":
                right = any(_is_place(value, one) for one in places)
                tally.add("events: place", half, right=right, read=any(places))
    if page.get("count") is not None:
        dated = sum("starts" in record.fields for record in found.records)  # what tells no date is never published
        tally.add("events: number on the page", half, right=min(page["count"], dated), read=dated, of=page["count"])


def context_of(page: dict[str, Any], time_zone: str) -> ReadingContext:
    """What a saved page is read against: noon of the day it was read on."""
    year, month, day = (int(part) for part in (page.get("now") or _NO_DAY)[:_DAY].split("-"))
    now = datetime(year, month, day, 12, tzinfo=UTC)
    return ReadingContext(now=now, time_zone=page.get("time_zone") or time_zone, language=page.get("language", "en"))


def site_of(url: str) -> str:
    """The registered name of an address, near enough: its last two labels."""
    return ".".join((urlsplit(url).hostname or "").split(".")[-2:])


def _calibrate(records: Sequence[RawRecord], starts: list[str], value: str, tally: Tally) -> None:
    """Count the record that tells the wanted day, else the page's first, under its confidence."""
    if not records:
        return
    place = next((place for place, start in enumerate(starts) if start[:_DAY] == value[:_DAY]), 0)
    band = confidence_band(records[place].confidence)
    right = starts[place][:_MINUTE] == value[:_MINUTE]
    tally.add(f"confidence of events {band}: right to the minute", BOTH, right=right)


def _starts(record: RawRecord, context: ReadingContext) -> str:
    written = f"{record.fields.get('starts', '')} {record.fields.get('time', '')}".strip()
    moment = parse_moment(written, context.now, context.time_zone, context.language)
    return moment.starts.replace(tzinfo=None).isoformat()[:_MINUTE] if moment else ""


def _is_place(wanted: dict[str, Any], read: str) -> bool:
    """Whether what was read has the place's name, or its address as far as the comma."""
    name, address = words(wanted.get("name") or ""), words((wanted.get("address") or "").split(",")[0])
    return bool(read) and ((bool(name) and name in read) or (bool(address) and address in read))


def words(text: str) -> str:
    """A text as it is compared: letters and digits, small, single blanks."""
    return " ".join("".join(letter if letter.isalnum() else " " for letter in text.casefold()).split())
