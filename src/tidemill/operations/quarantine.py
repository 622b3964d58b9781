"""What a person can do with quarantined records: show, release and reject, singly and in bulk."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import RawRecord
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Context, Vertical
from tidemill.core.views.quality import QuarantinedView, QuarantineFilter
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.pipeline.ports import Clock
from tidemill.pipeline.reader_functions.dry_readings import JUDGED, RecordsToJudge, RejudgedRecord
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.store.quality.quarantine import QuarantineRepository
from tidemill.store.sources.sources import SourceRepository

BATCH_SIZE = 500

_encode = msgspec.json.Encoder().encode


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a review: how many records it settled, and those that still cannot be released, with the reason."""

    records: int
    refused: Mapping[int, str] = msgspec.field(default_factory=dict)


class QuarantineActions:
    """Releases and rejects quarantined records; every action is audited, every reason kept."""

    def __init__(
        self,
        repository: QuarantineRepository,
        sources: SourceRepository,
        verticals: Mapping[str, Vertical],
        clock: Clock,
        readers: FunctionReaders,
    ) -> None:
        """`readers` judge a record again, by its vertical's rules, before it is released."""
        self._repository = repository
        self._sources = sources
        self._verticals = verticals
        self._clock = clock
        self._readers = readers

    async def every(
        self, which: QuarantineFilter | None = None, *, before: int | None = None, limit: int = 100
    ) -> list[QuarantinedView]:
        """Return quarantined records, the newest first."""
        return await self._repository.aside(which, before=before, limit=limit)

    async def count(self, which: QuarantineFilter, most: int) -> int:
        """Return how many records a filter means; at most one more than `most` is counted."""
        return await self._repository.count(which, most)

    async def find(self, key: int) -> QuarantinedView:
        """Return one record with its raw fields and reason; raise `NotFound` if there is none."""
        found = await self._repository.find(key)
        if found is None:
            msg = f"there is no quarantined record {key}; see `tidemill quarantine list`"
            raise NotFound(msg)
        return found

    async def release(
        self, key: int, actor: str, notes: str = "", fields: Mapping[str, str] | None = None
    ) -> QuarantinedView:
        """Publish a record after all; `fields` correct what the page or our reading got wrong.

        The rules judge it again, so that no invalid record is published.
        """
        record = await self.find(key)
        _refuse_if_decided(record)
        page = await self._repository.page(record.page_id)
        if page is None:
            msg = f"the page of record {key} is no longer stored; reject it, and run its target again"
            raise Mistake(msg)
        accepted = await self._judged(record, page, fields or {})
        detail = {"id": key, "reason": record.reason, "notes": notes, "fields": dict(fields or {})}
        note = AuditEntry(actor, "quarantine.release", f"record {key}", detail)
        kept = await self._repository.release(record, page, accepted, actor, notes, self._clock.now(), [note])
        if kept is None:
            _refuse_if_decided(await self.find(key))
        elif kept.dropped:
            msg = f"the run of record {key} has brought the same product by another page; reject this one"
            raise Mistake(msg)
        return await self.find(key)

    async def reject(self, key: int, actor: str, notes: str = "") -> QuarantinedView:
        """Reject a record; it is kept with its reason, and never published."""
        record = await self.find(key)
        _refuse_if_decided(record)
        note = AuditEntry(actor, "quarantine.reject", f"record {key}", {"reason": record.reason, "notes": notes})
        await self._repository.reject([key], actor, notes, self._clock.now(), [note])
        return await self.find(key)

    async def release_all(self, which: QuarantineFilter, actor: str, notes: str = "") -> Reviewed:
        """Release every waiting record that matches the filter and that the rules accept."""
        refused: dict[int, str] = {}
        done = 0
        for record in await self._waiting(which):
            try:
                await self.release(record.id, actor, notes)
            except Mistake as reason:
                refused[record.id] = str(reason)
            else:
                done += 1
        return Reviewed(records=done, refused=refused)

    async def reject_all(self, which: QuarantineFilter, actor: str, notes: str = "") -> Reviewed:
        """Reject every waiting record that matches the filter."""
        keys = [record.id for record in await self._waiting(which)]
        done = 0
        for start in range(0, len(keys), BATCH_SIZE):
            some = keys[start : start + BATCH_SIZE]
            detail = {"records": len(some), "notes": notes}
            note = AuditEntry(actor, "quarantine.reject", described(which), detail)
            done += await self._repository.reject(some, actor, notes, self._clock.now(), [note])
        return Reviewed(records=done)

    async def _waiting(self, which: QuarantineFilter) -> list[QuarantinedView]:
        waiting = msgspec.structs.replace(which, waiting=True)
        found: list[QuarantinedView] = []
        while page := await self._repository.aside(waiting, before=found[-1].id if found else None, limit=BATCH_SIZE):
            found += page
        return found

    async def _judged(self, record: QuarantinedView, page: Page, fields: Mapping[str, str]) -> Accepted:
        """Return the record as the rules accept it; raise `Mistake` with the reason if they do not."""
        vertical = self._verticals.get(record.vertical)
        source = await self._sources.find(record.source_id)
        if source is None:
            msg = f"the source of record {record.id} was removed; reject it"
            raise Mistake(msg)
        if vertical is None:
            msg = f"no installed package brings the vertical {record.vertical!r}; install it, or reject the record"
            raise Mistake(msg)
        if "record" in record.raw:  # the rules had accepted it, and the repository held it back
            return _decoded(vertical, record, fields)
        raw = msgspec.convert(dict(record.raw), RawRecord)
        corrected = {**raw.fields, **fields}
        raw = msgspec.structs.replace(raw, fields={name: value for name, value in corrected.items() if value != ""})
        context = Context(source, page.final_url, page.fetched_at)
        answer = await self._readers.call(JUDGED, RecordsToJudge(vertical.name, [raw], context))
        judged = RejudgedRecord(reason=answer.failure, detail=answer.detail) if isinstance(answer, Fail) else answer[0]
        if not judged.reason:
            encoded = judged.encoded.encode()
            return Accepted(judged.identity, vertical.decode_record(encoded), encoded)
        msg = (
            f"the rules still say {judged.reason} ({judged.detail}); put the fields right with --set NAME=VALUE "
            f"(an empty value removes a field), or reject it"
        )
        raise Mistake(msg)


def _decoded(vertical: Vertical, record: QuarantinedView, fields: Mapping[str, str]) -> Accepted:
    if fields:
        msg = f"record {record.id} was read well and only held back; release it as it is, or reject it"
        raise Mistake(msg)
    encoded = _encode(record.raw["record"])
    identity = str(record.raw["identity"])
    return Accepted(identity, vertical.decode_record(encoded), encoded)


def _refuse_if_decided(record: QuarantinedView) -> None:
    if record.review is not None:
        msg = f"record {record.id} is settled: {record.review} by {record.reviewed_by}"
        raise Mistake(msg)


def described(which: QuarantineFilter) -> str:
    """Return the filter in words, for the audit log."""
    asked: dict[str, Any] = {name: getattr(which, name) for name in ("source_id", "vertical", "reason", "run_id")}
    parts = [f"{name} {value}" for name, value in asked.items() if value is not None]
    return "quarantined records with " + ", ".join(parts) if parts else "all quarantined records"
