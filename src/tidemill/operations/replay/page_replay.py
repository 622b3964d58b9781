"""Reading one stored page again at its own moment, and comparing it with what was kept then."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from tidemill.core.outcome import Fail
from tidemill.core.replay.page_difference import (
    ComparedReading,
    PageDifference,
    ReadRecord,
    RecordDifference,
    ReplayedState,
    naming_words,
    page_difference,
)
from tidemill.core.replay.views import ReplayScope
from tidemill.core.services.enrichment import ModelAnswer
from tidemill.core.source import Source
from tidemill.core.verdict import Dropped, is_fault
from tidemill.core.vertical import Vertical
from tidemill.engine.drain import result_of
from tidemill.engine.ports import PageReaders
from tidemill.pipeline.kept_readings import decode_found
from tidemill.pipeline.page_reading import PageTask, ReadPage, ReadResult, read_page
from tidemill.store.replays.inputs import ReplayInput
from tidemill.store.replays.replays import FilledPage

LONGEST_BLOCK = 400
"""Characters of a record's markup that a report shows."""
LONGEST_DETAIL = 300


class KnownAnswers(Protocol):
    """Answers of the language model that are kept."""

    async def load(self, keys: Sequence[str]) -> object:
        """Bring answers into memory."""
        ...

    def get(self, key: str) -> ModelAnswer | None:
        """Return an answer that is in memory."""
        ...


@dataclass(frozen=True, slots=True)
class PageReplayer:
    """Reads pages again: in the readers where there are some, else inline; it writes nothing.

    `answers` are those that a language model gave when pages were read first: it is not asked again.
    """

    verticals: Mapping[str, Vertical]
    readers: PageReaders | None
    answers: KnownAnswers | None
    most_records: int

    async def replay(self, one: ReplayInput, scope: ReplayScope) -> FilledPage:
        """Read a page again and compare; what cannot be compared is passed on as it is."""
        if one.state is not ReplayedState.COMPARED or one.page is None or one.source is None:
            return FilledPage(number=one.number, state=one.state)
        result = await self._read(one, one.source, scope)
        provenance = self.verticals[one.source.vertical].provenance if one.source.vertical in self.verticals else ()
        found = page_difference(one.then, reading_of(result, one.then), provenance)
        return FilledPage(number=one.number, state=one.state, difference=with_places(found, result))

    async def _read(self, one: ReplayInput, source: Source, scope: ReplayScope) -> ReadResult:
        task = page_task(one, source, scope, asks_model=self.answers is not None, most_records=self.most_records)
        result = await self._read_task(task)
        if self.answers is None or isinstance(result, Fail):
            return result
        keys = [each.request.key for each in result.verdicts.rejected if each.request is not None]
        if not keys:
            return result
        await self.answers.load(keys)
        known = {key: answer for key in keys if (answer := self.answers.get(key)) is not None}
        return await self._read_task(msgspec.structs.replace(task, answers=known)) if known else result

    async def _read_task(self, task: PageTask) -> ReadResult:
        if self.readers is None:
            return read_page(task, self.verticals)
        return await result_of(self.readers, task)


def page_task(one: ReplayInput, source: Source, scope: ReplayScope, *, asks_model: bool, most_records: int) -> PageTask:
    """Return the task to read a page at its own moment, with the selectors or the adapter that are tried."""
    if one.page is None:
        msg = "a page that is gone cannot be read"
        raise ValueError(msg)
    if scope.selectors is not None:
        settings = {**source.adapter_settings, "selectors": dict(scope.selectors)}
        source = msgspec.structs.replace(source, adapter_settings=settings)
    return PageTask(
        source.vertical,
        scope.reader or one.adapter_id,
        source,
        one.parameters,
        one.page,
        one.page_number,
        asks_model=asks_model,
        most_records=most_records,
    )


def reading_of(result: ReadResult, then: ComparedReading) -> ComparedReading:
    """Return a result as it is compared; records that are the same to the byte are not decoded twice."""
    if isinstance(result, Fail):
        return ComparedReading(failure=str(result.failure), detail=result.detail[:LONGEST_DETAIL])
    known = {one.identity: one for one in then.accepted}
    rejected = result.verdicts.rejected
    dropped = sum(isinstance(each.verdict, Dropped) for each in rejected)
    return ComparedReading(
        accepted=[_record(each.identity, each.encoded, known) for each in result.verdicts.accepted],
        refusals=[(each.verdict.reason, naming_words(each.raw.fields)) for each in rejected],
        dropped=dropped,
        quarantined=len(rejected) - dropped,
        truncated=result.kept.truncated,
        unusable=not result.verdicts.accepted and any(is_fault(each.verdict) for each in rejected),
    )


def _record(identity: str, encoded: bytes, known: Mapping[str, ReadRecord]) -> ReadRecord:
    before = known.get(identity)
    if before is not None and before.encoded == encoded:
        return before
    return ReadRecord(identity, msgspec.json.decode(encoded), encoded)


def with_places(found: PageDifference, result: ReadResult) -> PageDifference:
    """Return the difference with the places on the page at which records that are new or changed stand."""
    if isinstance(result, Fail) or not any(each.after is not None for each in found.changes):
        return found
    places = _places(result)
    return msgspec.structs.replace(found, changes=[_placed(each, places) for each in found.changes])


def _placed(change: RecordDifference, places: Mapping[str, tuple[str, str]]) -> RecordDifference:
    if change.after is None or change.identity not in places:
        return change
    origin, block = places[change.identity]
    return msgspec.structs.replace(change, origin=origin, block=block)


def _places(result: ReadPage) -> dict[str, tuple[str, str]]:
    """Return where each accepted record stands: raw records keep the order of the page, rejected ones left out."""
    refused = Counter(each.raw.origin for each in result.verdicts.rejected)
    accepted = iter(result.verdicts.accepted)
    places: dict[str, tuple[str, str]] = {}
    for raw in decode_found(result.kept.encoded).records:
        if refused[raw.origin]:
            refused[raw.origin] -= 1
        elif (one := next(accepted, None)) is not None:
            places.setdefault(one.identity, (raw.origin, raw.block[:LONGEST_BLOCK]))
    return places


Progress = Callable[[int, int], Any]
"""Is told how many pages of how many have been read."""
Pause = Callable[[float], Awaitable[None]]
