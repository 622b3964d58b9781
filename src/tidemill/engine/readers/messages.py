"""What goes to a reader and comes back: length-prefixed MessagePack, scraped values inside it as JSON.

JSON holds what MessagePack does not (numbers of any length), and records travel encoded as they are stored.
"""

import struct
from collections.abc import Mapping, Sequence

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.record import RawRecord
from tidemill.core.services.enrichment import EnrichmentRequest
from tidemill.core.verdict import Accepted, Dropped, Quarantined
from tidemill.core.vertical import Vertical
from tidemill.pipeline.checkpoints import Rejected, Verdicts
from tidemill.pipeline.kept_readings import KeptReading
from tidemill.pipeline.page_reading import PageTask, ReadPage, ReadResult

TASK_HEADER = struct.Struct("<Ifd")
"""Length of the task, processor seconds that it may take, seconds on the clock."""
ANSWER_HEADER = struct.Struct("<I")
"""Length of the answer; 0 says that the reader retires."""


class _RejectedAnswer(msgspec.Struct, frozen=True, array_like=True):
    raw: RawRecord
    dropped: Dropped | None
    quarantined: Quarantined | None
    request: EnrichmentRequest | None


class _Answer(msgspec.Struct, frozen=True, array_like=True):
    """A result; `failure` is '' for a page that was read. Details are bytes: they may hold half a character."""

    failure: str
    detail: bytes
    stack: bytes
    adapter_id: str
    adapter_version: str
    kept: KeptReading | None
    accepted: Sequence[tuple[str, bytes]]
    rejected: bytes


encode_task = msgspec.msgpack.Encoder().encode
decode_task = msgspec.msgpack.Decoder(PageTask).decode
_encode_answer = msgspec.msgpack.Encoder().encode
_decode_answer = msgspec.msgpack.Decoder(_Answer).decode
_encode_rejected = msgspec.json.Encoder().encode
_decode_rejected = msgspec.json.Decoder(list[_RejectedAnswer]).decode


def encode_result(result: ReadResult) -> bytes:
    """Return a result as it travels; raise for values that nothing can hold."""
    if isinstance(result, Fail):
        detail, stack = (text.encode("utf-8", "surrogatepass") for text in (result.detail, result.stack))
        return _encode_answer(_Answer(result.failure, detail, stack, "", "", None, (), b""))
    accepted = [(each.identity, each.encoded) for each in result.verdicts.accepted]
    rejected = [_rejected_answer(each) for each in result.verdicts.rejected]
    told = _encode_rejected(rejected) if rejected else b""
    return _encode_answer(_Answer("", b"", b"", result.adapter_id, result.adapter_version, result.kept, accepted, told))


def decode_result(answer: bytes | memoryview, verticals: Mapping[str, Vertical], vertical: str) -> ReadResult:
    """Return the result that a reader sent."""
    given = _decode_answer(answer)
    if given.failure or given.kept is None:
        detail, stack = (text.decode("utf-8", "surrogatepass") for text in (given.detail, given.stack))
        return Fail(Failure(given.failure), detail, stack=stack)
    decode_record = verticals[vertical].decode_record
    accepted = [Accepted(identity, decode_record(encoded), encoded) for identity, encoded in given.accepted]
    rejected = [_rejected(each) for each in _decode_rejected(given.rejected)] if given.rejected else []
    return ReadPage(given.adapter_id, given.adapter_version, given.kept, Verdicts(accepted, rejected))


def _rejected_answer(rejected: Rejected) -> _RejectedAnswer:
    verdict = rejected.verdict
    if isinstance(verdict, Dropped):
        return _RejectedAnswer(rejected.raw, verdict, None, rejected.request)
    return _RejectedAnswer(rejected.raw, None, verdict, rejected.request)


def _rejected(given: _RejectedAnswer) -> Rejected:
    verdict = given.dropped or given.quarantined
    if verdict is None:
        msg = "a rejected record came without its verdict"
        raise ValueError(msg)
    return Rejected(given.raw, verdict, given.request)
