"""What goes to a reader and comes back: length-prefixed MessagePack, scraped values inside it as JSON.

JSON holds what MessagePack does not (numbers of any length), and records travel encoded as they are stored.
"""

import struct
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

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
from tidemill.pipeline.reader_functions.function import ReaderFunction

TASK_HEADER = struct.Struct("<BIfd")
"""The kind of the task, its length, processor seconds that it may take, seconds on the clock."""
ANSWER_HEADER = struct.Struct("<I")
"""Length of the answer; 0 says that the reader retires."""


class TaskKind(IntEnum):
    """What a reader is asked to do: read a job's page, or run a function by its name."""

    PAGE = 0
    FUNCTION = 1


class FunctionTask(msgspec.Struct, frozen=True, array_like=True):
    """The name of a function, and what it is asked, as JSON."""

    name: str
    asked: bytes


class _FunctionAnswer(msgspec.Struct, frozen=True, array_like=True):
    """What a function answered, as JSON; `failure` is '' unless there is no answer."""

    failure: str
    detail: bytes
    stack: bytes
    answer: bytes


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
    seconds: float = 0.0


encode_task = msgspec.msgpack.Encoder().encode
decode_task = msgspec.msgpack.Decoder(PageTask).decode
_encode_answer = msgspec.msgpack.Encoder().encode
_decode_answer = msgspec.msgpack.Decoder(_Answer).decode
_encode_json = msgspec.json.Encoder().encode
_decode_rejected = msgspec.json.Decoder(list[_RejectedAnswer]).decode


def encode_result(result: ReadResult) -> bytes:
    """Return a result as it travels; raise for values that nothing can hold."""
    if isinstance(result, Fail):
        detail, stack = (text.encode("utf-8", "surrogatepass") for text in (result.detail, result.stack))
        return _encode_answer(_Answer(result.failure, detail, stack, "", "", None, (), b""))
    accepted = [(each.identity, each.encoded) for each in result.verdicts.accepted]
    rejected = [_rejected_answer(each) for each in result.verdicts.rejected]
    told = _encode_json(rejected) if rejected else b""
    reader = (result.adapter_id, result.adapter_version)
    return _encode_answer(_Answer("", b"", b"", *reader, result.kept, accepted, told, result.seconds))


def decode_result(answer: bytes | memoryview, verticals: Mapping[str, Vertical], vertical: str) -> ReadResult:
    """Return the result that a reader sent."""
    given = _decode_answer(answer)
    if given.failure or given.kept is None:
        detail, stack = (text.decode("utf-8", "surrogatepass") for text in (given.detail, given.stack))
        return Fail(Failure(given.failure), detail, stack=stack)
    decode_record = verticals[vertical].decode_record
    accepted = [Accepted(identity, decode_record(encoded), encoded) for identity, encoded in given.accepted]
    rejected = [_rejected(each) for each in _decode_rejected(given.rejected)] if given.rejected else []
    verdicts = Verdicts(accepted, rejected)
    return ReadPage(given.adapter_id, given.adapter_version, given.kept, verdicts, given.seconds)


def encode_call(function: ReaderFunction[Any, Any], asked: Any) -> bytes:
    """Return a call as it travels; raise for values that nothing can hold."""
    return _encode_answer(FunctionTask(function.name, _encode_json(asked)))


decode_call = msgspec.msgpack.Decoder(FunctionTask).decode


def encode_answer(answer: Any) -> bytes:
    """Return a function's answer as it travels; raise for values that nothing can hold."""
    if isinstance(answer, Fail):
        detail, stack = (text.encode("utf-8", "surrogatepass") for text in (answer.detail, answer.stack))
        return _encode_answer(_FunctionAnswer(answer.failure, detail, stack, b""))
    return _encode_answer(_FunctionAnswer("", b"", b"", _encode_json(answer)))


_decode_function_answer = msgspec.msgpack.Decoder(_FunctionAnswer).decode


def decode_answer(answer: bytes | memoryview, function: ReaderFunction[Any, Any]) -> Any:
    """Return what a function answered, or the failure."""
    given = _decode_function_answer(answer)
    if given.failure:
        detail, stack = (text.decode("utf-8", "surrogatepass") for text in (given.detail, given.stack))
        return Fail(Failure(given.failure), detail, stack=stack)
    return msgspec.json.decode(given.answer, type=function.answer)


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
