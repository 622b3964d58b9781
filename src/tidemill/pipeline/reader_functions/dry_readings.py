"""Reading and judging a stored page to see what an adapter would yield, and judging records again."""

from collections.abc import Mapping, Sequence

import msgspec

from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import RawRecord
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted, Dropped
from tidemill.core.vertical import Context, Vertical
from tidemill.pipeline.page_reading import judge
from tidemill.pipeline.reader_functions.function import ReaderFunction, encode_json


class PageToRead(msgspec.Struct, frozen=True):
    """A stored page, its source, and the adapter that is to read it."""

    adapter_id: str
    source: Source
    page: Page


class DryReading(msgspec.Struct, frozen=True):
    """How many records a page yields, and the reasons against it."""

    kept: int
    against: Sequence[str]


class RecordsToJudge(msgspec.Struct, frozen=True):
    """Raw records of one page, and what rules may know beside them."""

    vertical: str
    records: Sequence[RawRecord]
    context: Context


class RejudgedRecord(msgspec.Struct, frozen=True):
    """A record that was accepted, encoded as it is stored; or why it was not."""

    identity: str = ""
    encoded: str = ""
    reason: str = ""
    detail: str = ""


def _read(asked: PageToRead, verticals: Mapping[str, Vertical]) -> DryReading:
    page, vertical = asked.page, verticals[asked.source.vertical]
    context = Context(asked.source, page.final_url, page.fetched_at)
    try:
        reading = vertical.adapters[asked.adapter_id].read(page, context)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a crash is what a dry run is there to find
        return DryReading(0, [f"crashed: {type(error).__name__}"])
    if isinstance(reading, Fail):
        return DryReading(0, [str(vertical.name_failure(reading.failure, reading.detail) or reading.failure)])
    verdicts = [judge(vertical, raw, context) for raw in reading.records]
    kept = sum(isinstance(each, Accepted) for each in verdicts)
    against = [
        str(each.reason)
        for each in verdicts
        if not isinstance(each, Accepted) and not (isinstance(each, Dropped) and each.harmless)
    ]
    if not verdicts and not reading.declared_empty:
        against.append("nothing found")
    return DryReading(kept, against)


def _judged(asked: RecordsToJudge, verticals: Mapping[str, Vertical]) -> list[RejudgedRecord]:
    vertical = verticals[asked.vertical]
    judged = []
    for raw in asked.records:
        verdict = judge(vertical, raw, asked.context)
        if isinstance(verdict, Accepted):
            judged.append(RejudgedRecord(verdict.identity, encode_json(verdict.record).decode()))
        else:
            judged.append(RejudgedRecord(reason=str(verdict.reason), detail=verdict.detail))
    return judged


DRY_READ = ReaderFunction("page.dry_read", PageToRead, DryReading, _read)
JUDGED = ReaderFunction("records.judged", RecordsToJudge, list[RejudgedRecord], _judged)
