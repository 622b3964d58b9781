"""Records of a page that was read worse than before: what is stored of them already is not overwritten."""

from collections.abc import Mapping

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import Job
from tidemill.core.quality.readings import PoorerReading, keep_richer
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Vertical
from tidemill.pipeline.checkpoints import AcceptedRecords
from tidemill.store.records.repository import KeepsRecords, RecordRepository

_encode = msgspec.json.Encoder().encode


async def with_richer_fields(
    connection: AsyncConnection, repository: RecordRepository, vertical: Vertical, job: Job, harvest: AcceptedRecords
) -> AcceptedRecords:
    """Return the harvest of a page that was read worse with the fields that are known better; others as they are."""
    poorer = harvest.judged.poorer
    if poorer is None or not harvest.records or not isinstance(repository, KeepsRecords):
        return harvest
    identities = sorted({each.identity for each in harvest.records})
    known = await repository.stored(connection, job.source_id, identities)
    records = [_richer(each, known, poorer, vertical) for each in harvest.records]
    return msgspec.structs.replace(harvest, records=records)


def _richer(read: Accepted, known: Mapping[str, bytes], poorer: PoorerReading, vertical: Vertical) -> Accepted:
    stored = known.get(read.identity)
    if stored is None:
        return read
    before, now = msgspec.json.decode(stored), msgspec.json.decode(read.encoded or _encode(read.record))
    record = vertical.decode_record(_encode(keep_richer(before, now, vertical.fields, is_weaker=poorer.is_weaker)))
    return Accepted(read.identity, record, _encode(record))
