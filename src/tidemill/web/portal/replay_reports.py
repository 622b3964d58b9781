"""Reports of replays as HTML: for the portal, and as a file that can be handed on."""

from collections.abc import Iterator, Mapping
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tidemill.core.replay.report import ReplaySample
from tidemill.core.replay.views import ReplayWithReport
from tidemill.web.portal.filters import FILTERS
from tidemill.web.portal.renderer import TEMPLATES

SHORTEST_MARK = 3
"""Characters of a value that is looked for on the page; shorter ones are everywhere."""


def report_as_html(shown: ReplayWithReport) -> str:
    """Return a report as a page that needs nothing else; whatever was scraped is escaped."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    templates.filters.update(FILTERS)
    return templates.get_template("replay_report.html").render(**report_values(shown), now=shown.replay.created_at)


def report_values(shown: ReplayWithReport) -> dict[str, Any]:
    """Return what the template of a report is filled with."""
    samples = shown.report.samples if shown.report is not None else ()
    return {
        "replay": shown.replay,
        "report": shown.report,
        "naming": sample_name,
        "samples": [(each, list(differing_fields(each)), marked_pieces(each)) for each in samples],
    }


def sample_name(sample: ReplaySample) -> str:
    """Return what a sample's record is called: its title or name, else its identity."""
    told = {**(sample.change.before or {}), **(sample.change.after or {})}
    return next((str(told[name]) for name in ("title", "name") if told.get(name)), sample.change.identity)


def plainly(value: Any) -> str:
    """Return a value as people read it: what is empty says nothing, and of a group each part that says something."""
    if value in (None, "", [], {}):
        return ""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {words}" for name, each in value.items() if (words := plainly(each)))
    if isinstance(value, list | tuple):
        return ", ".join(map(plainly, value))
    return str(value)


def differing_fields(sample: ReplaySample) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the fields of a sample side by side, those that differ first."""
    before: Mapping[str, Any] = sample.change.before or {}
    after: Mapping[str, Any] = sample.change.after or {}
    names = dict.fromkeys([*sample.change.names, *before, *after])
    for name in names:
        then, now = before.get(name), after.get(name)
        if then not in (None, "") or now not in (None, ""):
            yield name, plainly(then), plainly(now), then != now


def marked_pieces(sample: ReplaySample) -> list[tuple[str, bool]]:
    """Return the markup of a sample's record in pieces; those that hold a value of the record are marked."""
    text = sample.change.block
    values = [value for value in (sample.change.after or {}).values() if isinstance(value, str)]
    pieces: list[tuple[str, bool]] = []
    while text:
        spots = [(text.find(value), -len(value)) for value in values if len(value) >= SHORTEST_MARK and value in text]
        if not spots:
            break
        start, length = min(spots)
        if start:
            pieces.append((text[:start], False))
        pieces.append((text[start : start - length], True))
        text = text[start - length :]
    return [*pieces, (text, False)] if text else pieces
