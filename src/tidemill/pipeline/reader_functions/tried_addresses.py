"""A page that may become a source's: read by every vertical and adapter that could."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import RawRecord
from tidemill.core.source import FetcherKind, Source
from tidemill.core.urls import host_of, registrable_domain
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Adapter, Context, Vertical
from tidemill.pipeline.reader_functions.function import ReaderFunction
from tidemill.reading.document import Document
from tidemill.reading.text import squash

RECORDS_SHOWN = 5
REASONS_SHOWN = 3
LEAST_TEXT = 200
"""A page that shows less than this and runs scripts is drawn by them."""


class ShownField(msgspec.Struct, frozen=True):
    """A field of a record, its value, and where on the page it was read."""

    name: str
    value: str
    place: str


class TrialRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record that was read, and whether the rules would keep it."""

    verdict: str
    strategy: str
    fields: Sequence[ShownField]


class AdapterTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What one adapter made of the page: how many records, how many of them would be published, and the first ones."""

    vertical: str
    adapter: str
    records: int
    accepted: int
    shown: Sequence[TrialRecord] = ()
    reasons: Sequence[str] = ()


class AddressTrial(msgspec.Struct, frozen=True, kw_only=True):
    """An address that was tried: the page as it came, and every adapter's reading, the best first."""

    url: str
    final_url: str
    title: str
    fetcher: FetcherKind
    status_code: int
    length: int
    needs_scripts: bool
    trials: Sequence[AdapterTrial]

    @property
    def best(self) -> AdapterTrial | None:
        """The reading with most records that would be published, if there is one."""
        return self.trials[0] if self.trials and self.trials[0].accepted else None


class PageToTry(msgspec.Struct, frozen=True, kw_only=True):
    """The page as it came from an address, by which fetcher, the moment, and the city where its source would be."""

    address: str
    page: Page
    fetcher: FetcherKind
    now: datetime
    city: str = ""


def _tried(asked: PageToTry, verticals: Mapping[str, Vertical]) -> AddressTrial:
    page, kind = asked.page, asked.fetcher
    document = Document.of(page)
    own = registrable_domain(asked.address)
    trials = [
        _trial(vertical, adapter, asked)
        for vertical in verticals.values()
        for adapter in vertical.adapters.values()
        if adapter.domain in {"*", own}
    ]
    ordered = sorted((each for each in trials if each.records), key=lambda each: (-each.accepted, -each.records))
    silent = [each for each in trials if not each.records]
    return AddressTrial(
        url=asked.address, final_url=page.final_url, title=document.title[:200], fetcher=kind,
        status_code=page.status_code, length=len(page.body),
        needs_scripts=len(document.text) < LEAST_TEXT and "<script" in document.markup.lower(),
        trials=[*ordered, *silent],
    )  # fmt: skip


def _trial(vertical: Vertical, adapter: Adapter, asked: PageToTry) -> AdapterTrial:
    page = asked.page
    source = Source(
        id=0,
        name=host_of(page.url),
        vertical=vertical.name,
        base_url=page.url,
        adapter_id=adapter.id,
        fetcher=asked.fetcher,
        city=asked.city,
    )
    context = Context(source, page.final_url, asked.now)

    def silent(reason: str) -> AdapterTrial:
        return AdapterTrial(vertical=vertical.name, adapter=adapter.id, records=0, accepted=0, reasons=[reason])

    try:
        reading = adapter.read(page, context)
        if isinstance(reading, Fail):
            return silent(str(reading.failure).replace("_", " ").lower())
        verdicts = [(raw, vertical.judge(raw, context)) for raw in reading.records]
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a crash is what a trial is there to find
        return silent(f"crashed: {type(error).__name__}")
    against = [each.reason for _, each in verdicts if not isinstance(each, Accepted)]
    return AdapterTrial(
        vertical=vertical.name, adapter=adapter.id, records=len(verdicts),
        accepted=sum(isinstance(each, Accepted) for _, each in verdicts),
        shown=[_shown(raw, isinstance(verdict, Accepted)) for raw, verdict in verdicts[:RECORDS_SHOWN]],
        reasons=list(dict.fromkeys(map(str, against)))[:REASONS_SHOWN],
    )  # fmt: skip


def _shown(raw: RawRecord, is_kept: bool) -> TrialRecord:  # noqa: FBT001 - a verdict
    fields = [
        ShownField(name, squash(str(value))[:200], str((raw.places or {}).get(name, "") or raw.origin)[:200])
        for name, value in raw.fields.items()
    ]
    return TrialRecord(verdict="published" if is_kept else "held back", strategy=str(raw.strategy), fields=fields)


TRIED = ReaderFunction("address.tried", PageToTry, AddressTrial, _tried)
