"""Repair: a page that yielded nothing is compared with the last good one, and selectors are proposed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from tidemill.core.proposals import DriftedTarget, SelectorFinding
from tidemill.core.source import Source
from tidemill.pipeline.happenings import Announce, DriftNoticed
from tidemill.reading.document import Document
from tidemill.reading.reading_context import ReadingContext
from tidemill.reading.repair import diagnose

AT_ONCE = 20
RULE = "selectors"


class RepairRepository(Protocol):
    """Where pages that yielded nothing are found, and what was found out about them is kept."""

    async def drifted(self, limit: int) -> list[DriftedTarget]:
        """Targets whose latest page yielded nothing and has not been looked at yet."""
        ...

    async def keep(self, findings: Sequence[SelectorFinding], now: datetime) -> list[int | None]:
        """Keep what was found out; answers the key of each proposal that is new, None for the others."""
        ...


async def propose_repairs(book: RepairRepository, announce: Announce, now: datetime) -> str:
    """Look at every page that yielded nothing, once; tell of each what is wrong with it."""
    found = [examine(each) for each in await book.drifted(AT_ONCE)]
    keys = await book.keep(found, now) if found else []
    for finding, key in zip(found, keys, strict=True):
        drifted = finding.drifted
        told = finding.diagnosis if key is None else f"{finding.diagnosis}; proposal {key} waits for a person"
        announce(DriftNoticed(now, 0, drifted.source.id, drifted.adapter_id, RULE, "", told, is_over=False))
    return f"{len(found)} pages looked at, {sum(key is not None for key in keys)} proposals"


def examine(drifted: DriftedTarget) -> SelectorFinding:
    """What became of a page, and which selectors fit it now."""
    before: Any = drifted.source.adapter_settings.get("selectors")
    before = dict(before) if isinstance(before, dict) else {}
    then, now = (
        reading_context_of(drifted.source, drifted.good_at),
        reading_context_of(drifted.source, drifted.page.fetched_at),
    )
    diagnosis = diagnose(Document.of(drifted.page), drifted.known, then, now, before)
    repair = diagnosis.repair
    if repair is None:
        return SelectorFinding(drifted=drifted, diagnosis=diagnosis.words, before=before)
    return SelectorFinding(
        drifted=drifted,
        diagnosis=diagnosis.words,
        before=before,
        after=repair.spec,
        confidence=repair.confidence,
        lost=repair.lost,
    )


def reading_context_of(source: Source, read_at: datetime) -> ReadingContext:
    """The day a page was read on, and the zone and language of its source."""
    european = source.language == "en" and source.time_zone.startswith("Europe/")
    return ReadingContext(
        now=read_at, time_zone=source.time_zone, language=source.language, day_first=True if european else None
    )
