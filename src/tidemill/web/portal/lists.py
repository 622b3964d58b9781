"""Pages that list things and let an operator act on them: one shape for all, with a form per action."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tidemill.core.access.roles import Role
from tidemill.web.api.parameters import is_key
from tidemill.web.responses import BadParameter

ROWS_PER_PAGE = 50
LONGEST_NOTICE = 200
COUNTED_UP_TO = 10_000
"""A list is counted up to here; beyond it the page says that there are more."""

Filters = Mapping[str, str | None]

SOURCE_FILTER = ("source", "Source", ())
"""The filter by a source's name."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, what stands in a row's cell, and where the cell leads.

    `state` gives the cell the look of a state, with the colour that the state has everywhere.
    """

    heading: str
    value: Callable[[Any], Any]
    link: Callable[[Any], str] | None = None
    state: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RowAction:
    """What can be done with a row.

    `do` gets the row's key, the fields of the form and who acts, and returns what was done in words. `applies` tells
    for which rows the button stands there. `warning` is asked before what cannot be undone. `fields` are texts that
    the form asks for, by name. `effect` says what it would do, on the page of one thing. `many` offers it for all
    ticked rows at once.
    """

    name: str
    label: str
    do: Callable[[str, Mapping[str, str], str], Awaitable[str]]
    applies: Callable[[Any], bool] = lambda _: True
    warning: str = ""
    fields: Sequence[tuple[str, str]] = ()
    effect: str = ""
    many: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAction:
    """What can be done with all rows that the filters mean; `offered_when_empty` also when there are none."""

    name: str
    label: str
    do: Callable[[Filters, str], Awaitable[str]]
    warning: str = ""
    offered_when_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ThingPart:
    """A part of the page of one thing: a heading over rows of cells, or over a text as it is."""

    heading: str
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    text: str = ""
    links: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ThingPage:
    """The page of one row of a list.

    `find` brings it by its key, `title` names it, `why` is what `tidemill why` calls it (None where nothing is to be
    explained), `subject` what the audit log calls it, and `parts` are what else stands there.
    """

    find: Callable[[str], Awaitable[Any]]
    title: Callable[[Any], str]
    facts: Callable[[Any], Sequence[tuple[str, Any]]]
    subject: Callable[[Any], str]
    why: Callable[[Any], str | None] = lambda _: None
    parts: Callable[[Any], Awaitable[Sequence[ThingPart]]] | None = None
    api: Callable[[Any], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """A list as a page: `load` gets the filters, the cursor and how many rows; `key` names a row in addresses.

    `usual_status` is shown while the reader has not chosen another. `count` tells how many rows the filters mean, at
    most one more than it is asked to count.
    `thing` is the page of one row. `next_step` says what to do when the list is empty, as a path and words.
    """

    path: str
    title: str
    about: str
    empty: str
    columns: Sequence[Column]
    load: Callable[[Filters, str | None, int], Awaitable[Sequence[Any]]]
    key: Callable[[Any], str]
    api: str
    filters: Sequence[tuple[str, str, Sequence[str]]] = ()
    actions: Sequence[RowAction] = ()
    bulk: Sequence[BulkAction] = ()
    is_paged: bool = True
    usual_status: str | None = None
    acting_role: Role = Role.OPERATOR
    count: Callable[[Filters, int], Awaitable[int]] | None = None
    thing: ThingPage | None = None
    next_step: tuple[str, str] | None = None


def number(key: str) -> int:
    """Return a row's key as a number."""
    if not is_key(key):
        msg = f"{quote(key)} is not a number"
        raise BadParameter(msg)
    return int(key)


def as_text(values: Mapping[str, Any] | None) -> str:
    """Return a mapping as a line of text."""
    return "; ".join(f"{name}: {value}" for name, value in (values or {}).items())[:300]
