"""The interface of a vertical: what the stages need to know about its kind of data."""

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec

from tidemill.core.checks.source_settings import SettingChecks
from tidemill.core.checks.suggestions import unknown_name
from tidemill.core.discovery.search import SearchProfile
from tidemill.core.failure import Failure
from tidemill.core.page import Page
from tidemill.core.policy import Policy
from tidemill.core.quality.readings import AS_READ, FieldRules
from tidemill.core.record import RawRecord, Reading
from tidemill.core.replay.reading_version import ReadingVersion
from tidemill.core.services.enrichment import EnrichmentRules
from tidemill.core.source import FetcherKind, Source
from tidemill.core.verdict import Verdict

if TYPE_CHECKING:  # its rules take this module's `Context`
    from tidemill.core.live.rules import LiveRules


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
    `domain` is the registrable domain it is made for, '*' for any. An adapter that reads settings of its source beside
    those of its vertical names them in an attribute `settings`, each with a check.
    """

    id: str
    version: str
    domain: str
    needs_browser: bool

    def read(self, page: Page, context: Context) -> Reading:
        """The page's raw records, or the reason why there are none. Pure; never raises for what a page holds."""
        ...


Judge = Callable[[RawRecord, Context], Verdict]
"""Accepts, drops or quarantines a raw record. Pure; one bad record does not affect the others."""


ReadNotice = Callable[[Page], str | None]
"""Returns the removal notice on a page, '' if there is none, or None if it is a block page or the like."""

NameFailure = Callable[[Failure, str], str | None]
"""Returns the vertical's own name for a failure and its detail; None if it has none."""


def no_failure_name(failure: Failure, detail: str) -> str | None:  # noqa: ARG001 - as every `NameFailure` is called
    """Return None: no failure has a name of its own."""
    return None


class NotableReason(msgspec.Struct, frozen=True):
    """A rejection reason that drift detection counts.

    `column` is where `scrape_runs` counts it. An excused one does not count as a failed URL; `alarm` is what a person
    is told when one was met at all, after the number of them.
    """

    column: str
    excused: bool = False
    alarm: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertical:
    """A kind of data as the stages use it: its policy, its adapters and its rules for a record.

    `record` is the type that accepted records are stored as. `shown` names what `tidemill parse` shows of one beside
    its title: a column's heading, and the field under it; `amounts` are those fields that count cents.
    `enrichment` is its side of enrichment and `discovery` what its sources are searched by, where it has them.
    `live` is its side of the live lane, where its things change within seconds. `provenance` names fields that say how
    a record was read, not what it says: replays do not compare them. `fields` say what may be taken from a page that is
    read worse than it was, for records that are known. `read_notice` tells what a page says of a record that is no
    longer there, where records are verified one by one. `settings` are those of a source that its adapters and rules
    read; None leaves them unchecked.
    """

    name: str
    policy: Policy
    adapters: Mapping[str, Adapter]
    judge: Judge
    record: Hashable
    shown: Mapping[str, str] = field(default_factory=dict)
    amounts: Collection[str] = ()
    enrichment: EnrichmentRules | None = None
    notable: Mapping[str, NotableReason] = field(default_factory=dict)
    name_failure: NameFailure = no_failure_name
    discovery: SearchProfile | None = None
    live: "LiveRules | None" = None
    settings: SettingChecks | None = None
    provenance: Collection[str] = ()
    fields: FieldRules = AS_READ
    read_notice: ReadNotice | None = None

    def decode_record(self, stored: bytes) -> object:
        """Decode a stored record from JSON, as a restarted worker does."""
        return _decoder(self.record).decode(stored)


def installed_version(vertical: Vertical, name: str) -> ReadingVersion | None:
    """Return the version of an adapter that is installed here, with its code's digest where that is known."""
    adapter = vertical.adapters.get(name)
    if adapter is None:
        return None
    code_of: Callable[[str], str] | None = getattr(vertical.adapters, "code_of", None)
    return ReadingVersion(adapter.version, "" if code_of is None else code_of(name))


def unknown_adapter(name: str, adapters: Collection[str]) -> str:
    """Return a message about an adapter that there is not: what its code lacks, or the nearest name."""
    problem_with: Callable[[str], str] | None = getattr(adapters, "problem_with", None)
    return (problem_with(name) if problem_with is not None else "") or unknown_name("adapter", name, adapters)


def settings_read(vertical: Vertical, adapter: Adapter) -> SettingChecks | None:
    """Return the settings of a source that this adapter and its vertical read; None if they do not say which."""
    own: SettingChecks | None = getattr(adapter, "settings", None)
    if vertical.settings is None:
        return own
    is_ours = type(adapter).__module__.startswith("tidemill.")
    return {**vertical.settings, **(own or {})} if own is not None or is_ours else None


@lru_cache(maxsize=32)
def _decoder(record: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(cast("type[Any]", record))


def fetcher_for(source: Source, adapter: Adapter | None) -> FetcherKind:
    """Return the fetcher for a source: the one in its settings, or a browser if its adapter needs one."""
    if source.fetcher is FetcherKind.HTTP and adapter is not None and adapter.needs_browser:
        return FetcherKind.BROWSER
    return source.fetcher
