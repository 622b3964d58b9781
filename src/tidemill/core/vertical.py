"""Where stages and verticals meet: what a vertical must say about its kind of data."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol, cast

import msgspec

from tidemill.core.discovery import SearchProfile
from tidemill.core.enrichment import Enriching
from tidemill.core.failure import Failure
from tidemill.core.page import Page
from tidemill.core.policy import Policy
from tidemill.core.record import RawRecord, Reading
from tidemill.core.source import FetcherKind, Source
from tidemill.core.verdict import Verdict


class Context(msgspec.Struct, frozen=True):
    """What a rule may know beside the record itself: its source, its page's address and the day it was read.

    `parameters` are the target's: the market it is for, with its city and state.
    """

    source: Source
    page_url: str
    read_at: datetime
    parameters: Mapping[str, str] = msgspec.field(default_factory=dict)


class Adapter(Protocol):
    """The thin, versioned, deterministic piece of code that knows one site, or one make of site.

    Raise `version` (semver) whenever the same page would be read differently: stored pages are then read anew.
    `domain` is the registrable domain it is made for, '*' for any.
    """

    id: str
    version: str
    domain: str
    needs_browser: bool

    def read(self, page: Page, context: Context) -> Reading:
        """The page's raw records, or the reason why there are none. Pure; never raises for what a page holds."""
        ...


Judge = Callable[[RawRecord, Context], Verdict]
"""Keeps a raw record, drops it or sets it aside. Pure; one bad record never costs its neighbours."""


NameFailure = Callable[[Failure, str], str | None]
"""What people of this trade call the reason behind a failure and its detail; None if it has no name of its own."""


def unnamed(failure: Failure, detail: str) -> str | None:  # noqa: ARG001 - as every `NameFailure` is called
    """No failure has a name of its own."""
    return None


class NotableReason(msgspec.Struct, frozen=True):
    """A reason for rejecting a record that drift detection looks at.

    `column` is where `scrape_runs` counts it. An excused one does not count as a failed URL; `alarm` is what a person
    is told when one was met at all, after the number of them.
    """

    column: str
    excused: bool = False
    alarm: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertical:
    """A kind of data as the stages see it: its policy, its adapters, and its judgement of a record.

    `record` is the type that accepted records are stored as. `shown` names what `tidemill parse` shows of one beside
    its title: a column's heading, and the field under it. `enriching` is its side of enrichment and
    `discovery` what its sources are searched by, where it has them.
    """

    name: str
    policy: Policy
    adapters: Mapping[str, Adapter]
    judge: Judge
    record: Hashable
    shown: Mapping[str, str] = field(default_factory=dict)
    enriching: Enriching | None = None
    notable: Mapping[str, NotableReason] = field(default_factory=dict)
    name_failure: NameFailure = unnamed
    discovery: SearchProfile | None = None

    def revive(self, stored: bytes) -> object:
        """The vertical's own record from its stored JSON: what a restart reads instead of memory."""
        return _decoder(self.record).decode(stored)


@lru_cache(maxsize=32)
def _decoder(record: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(cast("type[Any]", record))


def fetcher_for(source: Source, adapter: Adapter | None) -> FetcherKind:
    """How a source's pages are got: as its settings say, but in a browser if its adapter cannot do without."""
    if source.fetcher is FetcherKind.HTTP and adapter is not None and adapter.needs_browser:
        return FetcherKind.BROWSER
    return source.fetcher
