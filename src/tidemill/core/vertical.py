"""Where stages and verticals meet: the shape every vertical has."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

import msgspec

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


class Vertical(Protocol):
    """A kind of data: its policy, its adapters, and its judgement of a record."""

    name: str
    policy: Policy
    adapters: Mapping[str, Adapter]

    def judge(self, raw: RawRecord, context: Context) -> Verdict:
        """Keep the record, drop it or set it aside. Pure; one bad record never costs its neighbours."""
        ...

    def revive(self, identity: str, stored: bytes) -> object:
        """The vertical's own record from its stored JSON: what a restart reads instead of memory."""
        ...


def fetcher_for(source: Source, adapter: Adapter | None) -> FetcherKind:
    """How a source's pages are got: as its settings say, but in a browser if its adapter cannot do without."""
    if source.fetcher is FetcherKind.HTTP and adapter is not None and adapter.needs_browser:
        return FetcherKind.BROWSER
    return source.fetcher
