"""The port of a vertical that is watched live: how its pages are read, merged and judged. Pure.

A page goes through the source's adapter like any other (`Adapter.read`); what it found comes here. `Context.parameters`
of a list page hold `LIVE_ROLE: "list"`, those of a thing's page `"thing"`, so that one adapter can read both.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.live.change import Change, Published
from tidemill.core.outcome import Fail
from tidemill.core.record import Found

if TYPE_CHECKING:  # the vertical's interface names these rules
    from tidemill.core.vertical import Context

LIVE_ROLE = "live"
"""The parameter of a target that says which of the two it is."""
LIST_ROLE = "list"
THING_ROLE = "thing"


class Phase(StrEnum):
    """How a thing stands, as far as polling is concerned; imminent is derived from `starts_at`."""

    UPCOMING = "upcoming"
    IN_PLAY = "in_play"
    BREAK = "break"
    COMPLETED = "completed"
    UNKNOWN = "unknown"


class Outlook(NamedTuple):
    """A thing's phase, and when it starts if that is known.

    `COMPLETED` is for good (abandoned included): a break that a site calls the end is a `BREAK`, and rules that cannot
    tell say so by `BREAK` too.
    """

    phase: Phase
    starts_at: datetime | None = None


class ListedThing(msgspec.Struct, frozen=True, kw_only=True):
    """A thing as a list page names it.

    `source_key` is the site's own id for it and `url` its page. `hint` is any text that changes when the list shows
    that the thing moved (its score as listed), '' where the list does not tell. `fields` is what the vertical needs to
    find out which thing it is.
    """

    source_key: str
    url: str
    outlook: Outlook
    title: str = ""
    hint: str = ""
    resource: str = "scorecard"
    fields: Mapping[str, Any] = msgspec.field(default_factory=dict)


class ListReading(msgspec.Struct, frozen=True):
    """What a list page names, each thing once. Only a complete list says anything about what it does not name."""

    listed: Sequence[ListedThing]
    is_complete: bool = True


class LiveSite(msgspec.Struct, frozen=True, kw_only=True):
    """A page that tells of a thing: its source, the source's own id for the thing, and its precedence (0 to 100).

    `resource` says what the page shows: a source may have several pages for one thing, read each on its own.
    """

    source_id: int
    source: str
    source_key: str
    precedence: int = 50
    resource: str = "scorecard"


class Told(msgspec.Struct, frozen=True):
    """A site was read well and told this; `reading` is the vertical's own value from `read_thing`."""

    site: LiveSite
    at: datetime
    reading: Any


class ToldSame(msgspec.Struct, frozen=True):
    """A site was read well and its page is the same as at the last time, byte for byte."""

    site: LiveSite
    at: datetime


class ToldNothing(msgspec.Struct, frozen=True):
    """A site could not be read, and why."""

    site: LiveSite
    at: datetime
    failure: Failure


Telling = Told | ToldSame | ToldNothing


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """What a telling did to a thing.

    `memory` replaces the memory before (it may be the same object). `change` is the new state, None if readers see
    nothing new. `ignored` names why a reading that differs changed nothing (lagging, flapping...), for the counts.
    `rows` are values that the vertical's own store writes, in the change's transaction if there is one: a conflict
    between sites.
    """

    memory: Any
    change: Change | None = None
    ignored: str = ""
    rows: Sequence[Any] = ()


class LiveRules(Protocol):
    """A vertical's side of the live lane. `memory` is its own value about one thing and is kept in the process only.

    All tellings of a thing come here one after the other, in the order of their answers, from one process at a time.
    No method raises for what a page holds. `read_list` and `read_thing` run where pages are read, the others on the
    loop, and each of them is quick.
    """

    row_types: Sequence[type]
    """The types of the `rows` that `merge` answers with: what waits in a file is made into these again."""
    reading_type: type[Any]
    """What `read_thing` returns: it travels as JSON from the process in which a page is read."""

    def read_list(self, found: Found, context: "Context") -> ListReading | Fail:
        """Return the things that a list page names, or why it cannot be told."""
        ...

    def read_thing(self, found: Found, context: "Context") -> Any | Fail:
        """Return what one page says about its thing, or why it cannot be told."""
        ...

    def begin(self, key: str, published: Published | None, sites: Sequence[LiveSite]) -> Any:
        """Return the memory to begin a watch with: from the published state alone, or from nothing."""
        ...

    def with_sites(self, memory: Any, sites: Sequence[LiveSite]) -> Any:
        """Return the memory when other sites tell of the thing from now on."""
        ...

    def merge(self, memory: Any, telling: Telling) -> Merged:
        """Return what a telling does to the thing.

        An unchanged page comes here too: only the second saying of a lower score makes it a correction.
        """
        ...

    def outlook(self, memory: Any) -> Outlook:
        """Return how the thing stands."""
        ...
