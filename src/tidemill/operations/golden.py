"""Golden pages: saved pages with what an adapter must make of them, failures included, compared field by field.

A folder holds the pages and `golden.json`, a list of cases::

    {"name": "usual", "page": "usual.html", "url": "https://…", "captured_at": "2026-03-02T12:00:00Z",
     "settings": {}, "records": [{"title": "…", "starts": "…"}]}

Instead of `records` a case may say `"empty": true`, or `"failure": "layout_changed"`. Of a record only the fields that
are named are compared.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.source import Source
from tidemill.core.vertical import Adapter, Context
from tidemill.operations.mistakes import Mistake

MANIFEST = "golden.json"
MAX_PAGE_AGE = timedelta(days=90)
"""A page saved longer ago may no longer look like its site."""


class GoldenCase(msgspec.Struct, frozen=True, kw_only=True):
    """A saved page and the expected result."""

    name: str
    page: str
    url: str
    captured_at: datetime
    language: str = "nl"
    time_zone: str = "Europe/Amsterdam"
    city: str = ""
    content_type: str = "text/html; charset=utf-8"
    settings: Mapping[str, Any] = msgspec.field(default_factory=dict)
    records: Sequence[Mapping[str, Any]] | None = None
    empty: bool = False
    failure: str | None = None


class CheckedCase(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a case: every difference in words, and whether its page is old."""

    adapter: str
    case: str
    differences: tuple[str, ...] = ()
    old: bool = False

    @property
    def holds(self) -> bool:
        """Whether there is no difference."""
        return not self.differences


def cases_in(folder: Path) -> list[GoldenCase]:
    """Return the cases in a folder.

    Raises:
        Mistake: there is no list of cases, or it cannot be read.
    """
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=list[GoldenCase])
    except FileNotFoundError as error:
        msg = f"there is no {MANIFEST} in {folder}; `tidemill savefixture` makes one"
        raise Mistake(msg) from error
    except msgspec.DecodeError as error:
        msg = f"{folder / MANIFEST} cannot be read: {error}"
        raise Mistake(msg) from error


def write_cases(folder: Path, cases: Sequence[GoldenCase]) -> None:
    """Write the list of cases as indented JSON, for people to edit."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = [
        {name: value for name, value in msgspec.to_builtins(case).items() if value not in (None, {})} for case in cases
    ]
    (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n")


def check(adapter: Adapter, folder: Path, now: datetime) -> list[CheckedCase]:
    """Read every case of a folder and return the results."""
    return [
        CheckedCase(
            adapter=adapter.id,
            case=case.name,
            differences=tuple(differences(adapter, case, folder)),
            old=now - case.captured_at > MAX_PAGE_AGE,
        )
        for case in cases_in(folder)
    ]


def differences(adapter: Adapter, case: GoldenCase, folder: Path) -> list[str]:
    """Return the differences between the adapter's reading and the case, in words."""
    reading = read_case(adapter, case, folder)
    if isinstance(reading, Fail):
        return [] if case.failure == reading.failure else [f"failed with {reading.failure}: {reading.detail}"]
    if case.failure is not None:
        return [f"{len(reading.records)} records were read, where {case.failure} was to be noticed"]
    if case.empty:
        declared = reading.declared_empty and not reading.records
        return [] if declared else [f"{len(reading.records)} records were read of an empty page"]
    return compared([record.fields for record in reading.records], case.records or [])


def compared(found: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the differences between records field by field, in words."""
    differences = (
        [] if len(found) == len(expected) else [f"{len(found)} records were read, {len(expected)} are on the page"]
    )
    for number, (one, other) in enumerate(zip(found, expected, strict=False), start=1):
        differences += [
            f"record {number}, {name}: {one.get(name)!r} was read, {value!r} is on the page"
            for name, value in other.items()
            if one.get(name) != value
        ]
    return differences


def read_case(adapter: Adapter, case: GoldenCase, folder: Path) -> Any:
    """Return the adapter's reading of the case's page."""
    source = Source(
        id=0,
        name="golden",
        vertical="",
        base_url=case.url,
        adapter_id=adapter.id,
        language=case.language,
        time_zone=case.time_zone,
        city=case.city,
        adapter_settings=case.settings,
    )
    body = (folder / case.page).read_bytes()
    page = Page(
        id=0,
        url=case.url,
        final_url=case.url,
        status_code=200,
        body=body,
        charset="utf-8",
        content_type=case.content_type,
        digest=0,
        fetched_at=case.captured_at,
    )
    return adapter.read(page, Context(source, case.url, case.captured_at))
