"""Start an export: audited, streamed a page at a time, compressed if asked, and gone on with after a cursor."""

import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tidemill.core.audit import AuditEntry
from tidemill.core.views.records import BadCursor
from tidemill.operations.exporting.dataset import ExportDataset, ExportFormat, ExportRow, ExportWriter
from tidemill.operations.exporting.formats import CsvWriter, GeoJsonWriter, JsonLinesWriter
from tidemill.operations.exporting.parquet import ParquetWriter
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name
from tidemill.pipeline.happenings import Announce, ExportDone
from tidemill.pipeline.ports import Clock
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.upkeep.audit import AuditLog

PAGE_SIZE = 1_000
GZIP_WINDOW = 31
"""zlib's number for the largest window with a gzip header."""


@dataclass(frozen=True, slots=True)
class StartedExport:
    """An export on its way: its bytes, what kind they are, and a name for the file."""

    pieces: AsyncIterator[bytes]
    media_type: str
    file_name: str


class Exporter:
    """Streams datasets, one page in memory at a time."""

    def __init__(
        self,
        datasets: Sequence[ExportDataset],
        sources: SourceRepository,
        audit: AuditLog,
        clock: Clock,
        announce: Announce = lambda _: None,
    ) -> None:
        """Export these; every export is audited, and announced when its last row is out."""
        self.datasets = {dataset.name: dataset for dataset in datasets}
        self._sources = sources
        self._audit = audit
        self._clock = clock
        self._announce = announce

    def find(self, name: str) -> ExportDataset:
        """Return a dataset by name; raise `NotFound` with the nearest name."""
        if name not in self.datasets:
            raise NotFound(unknown_name("dataset", name, self.datasets))
        return self.datasets[name]

    async def start(
        self,
        name: str,
        form: ExportFormat,
        given: Mapping[str, str],
        actor: str,
        *,
        after: str | None = None,
        gzip: bool = False,
        as_of: datetime | None = None,
    ) -> StartedExport:
        """Audit the export and return it; whatever is wrong with the question is raised before the first byte.

        `given` are filters as text. `after` is the `cursor` of the last row that the caller has. With `as_of` the rows
        are what they were at that moment.
        """
        dataset = as_it_was(self.find(name), as_of, self._clock.now())
        if form not in dataset.formats:
            raise Mistake(self._not_had_as(dataset, form))
        writer = make_writer(dataset, form, goes_on=after is not None)
        filters = dataset.parse_filters(given)
        await self._require_source(given.get("source"))
        try:
            first = await dataset.load(filters, after, PAGE_SIZE)
        except BadCursor as error:
            raise Mistake(str(error)) from error
        note = AuditEntry(actor, f"{name}.export", name, {"format": form.value, **given, **_told(as_of)})
        await self._audit.note([note], self._clock.now())

        def tell(records: int) -> None:
            self._announce(ExportDone(self._clock.now(), actor, name, form.value, records))

        pieces = _pieces(dataset, writer, filters, first, tell)
        ending = f"{form.value}.gz" if gzip else form.value
        media_type = "application/gzip" if gzip else form.media_type
        return StartedExport(compressed(pieces) if gzip else pieces, media_type, f"{name}.{ending}")

    def _not_had_as(self, dataset: ExportDataset, form: ExportFormat) -> str:
        others = [name for name, each in self.datasets.items() if form in each.formats]
        instead = f", or {form} of {' or '.join(others)}" if others else ""
        return f"{dataset.name} cannot be had as {form}; take one of {', '.join(dataset.formats)}{instead}"

    async def _require_source(self, name: str | None) -> None:
        if name is not None and await self._sources.find(name) is None:
            raise NotFound(unknown_name("source", name, await self._sources.names()))


def as_it_was(dataset: ExportDataset, as_of: datetime | None, now: datetime) -> ExportDataset:
    """Return the dataset as of a moment: its pages are read from history; raise `Mistake` for a time to come."""
    if as_of is None:
        return dataset
    if as_of > now:
        msg = f"{as_of.isoformat()} has not come yet; what will be is not known"
        raise Mistake(msg)
    past = dataset.past()

    async def load(filters: object, after: str | None, limit: int) -> Sequence[ExportRow]:
        return await past(filters, after, limit, as_of)

    return replace(dataset, load=load)


def _told(as_of: datetime | None) -> dict[str, str]:
    return {} if as_of is None else {"as_of": as_of.isoformat()}


def make_writer(dataset: ExportDataset, form: ExportFormat, *, goes_on: bool = False) -> ExportWriter:
    """Return what writes a dataset in one of its formats."""
    if form in dataset.documents:
        return dataset.documents[form]()
    if form is ExportFormat.CSV:
        return CsvWriter(dataset.columns, goes_on=goes_on)
    if form is ExportFormat.PARQUET:
        return ParquetWriter(dataset.columns)
    return GeoJsonWriter() if form is ExportFormat.GEOJSON else JsonLinesWriter()


async def _pieces(
    dataset: ExportDataset,
    writer: ExportWriter,
    filters: object,
    first: Sequence[ExportRow],
    tell: Callable[[int], None],
) -> AsyncIterator[bytes]:
    yield writer.begin()
    page, records = first, 0
    while page:
        yield writer.page(page)
        records += len(page)
        if len(page) < PAGE_SIZE:
            break
        page = await dataset.load(filters, page[-1].cursor, PAGE_SIZE)
    yield writer.end()
    tell(records)


async def compressed(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces as one gzip member."""
    packer = zlib.compressobj(wbits=GZIP_WINDOW)
    async for piece in pieces:
        if packed := packer.compress(piece):
            yield packed
    yield packer.flush()
