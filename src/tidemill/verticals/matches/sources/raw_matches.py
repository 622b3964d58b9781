"""Raw records of matches, made alike by every adapter."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from tidemill.core.checks.source_settings import LONGEST_TEXT
from tidemill.core.failure import Failure
from tidemill.core.live.rules import LIST_ROLE, LIVE_ROLE
from tidemill.core.outcome import Fail
from tidemill.core.record import Found, RawRecord, Reading, Strategy
from tidemill.core.vertical import Context
from tidemill.reading.document import absolute
from tidemill.verticals.matches.reading.match_json import MOST_LISTED
from tidemill.verticals.matches.reading.whole_list import says_more

THING_URL = "match_url"
"""The setting that names the address of a match by its id, such as `/api/matches/{id}.json`."""


def match_url_problem(value: object) -> str:
    """Check the address of a match by its id."""
    if not isinstance(value, str) or "{id}" not in value or len(value) > LONGEST_TEXT:
        return "write an address with {id} in it, such as /api/matches/{id}.json"
    return ""


def is_list(context: Context) -> bool:
    """Return whether the page is a list of matches."""
    return context.parameters.get(LIVE_ROLE) == LIST_ROLE


def reading_of(
    found: Iterable[Mapping[str, Any]],
    context: Context,
    *,
    strategy: Strategy,
    sure: float,
    place: str,
    empty: bool,
    told: Sequence[Any] = (),
) -> Reading:
    """Return the matches of a page; a page of one match without it has changed its layout, an empty list may be.

    `told` are the values that the matches were found in: a list that says that it has more is not whole.
    """
    records = [
        RawRecord(fields=_with_address(fields, context), strategy=strategy, confidence=sure, origin=f"{place}/{number}")
        for number, fields in enumerate(found)
    ]
    if is_list(context):
        if not records and not empty:
            return Fail(Failure.LAYOUT_CHANGED, "neither matches nor an empty list of them")
        is_cut = len(records) >= MOST_LISTED or any(says_more(value, len(records)) for value in told)
        return Found(records=records, declared_empty=not records, truncated=is_cut)
    if not records:
        return Fail(Failure.LAYOUT_CHANGED, "no match with two teams on the page")
    return Found(records=records)


def _with_address(fields: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Return the fields with the match's own address: as the page or the source's settings name it."""
    template = context.source.adapter_settings.get(THING_URL)
    url = str(fields.get("url", ""))
    if isinstance(template, str) and fields.get("id"):
        url = template.replace("{id}", quote(str(fields["id"]), safe=""))
    return {**fields, "url": absolute(context.page_url, url)} if url else dict(fields)
