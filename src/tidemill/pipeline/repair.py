"""Repair: compare a page without records with the last good one, and propose selectors."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from tidemill.core.quality.proposals import DriftedTarget, SelectorFinding
from tidemill.core.source import Source
from tidemill.pipeline.happenings import Announce, DriftNoticed
from tidemill.reading.document import Document
from tidemill.reading.reading_context import ReadingContext
from tidemill.reading.repair import diagnose

BATCH_SIZE = 20
RULE = "selectors"


class RepairRepository(Protocol):
    """The repository of pages without records, and of the proposals for them."""

    async def drifted(self, limit: int) -> list[DriftedTarget]:
        """Return targets whose latest page yielded no records and has not been examined yet."""
        ...

    async def keep(self, findings: Sequence[SelectorFinding], now: datetime) -> list[int | None]:
        """Store findings; return the key of each new proposal, None for the others."""
        ...


async def propose_repairs(repository: RepairRepository, announce: Announce, now: datetime) -> str:
    """Examine every page without records once, and announce what is wrong with each."""
    found = [examine(each) for each in await repository.drifted(BATCH_SIZE)]
    keys = await repository.keep(found, now) if found else []
    for finding, key in zip(found, keys, strict=True):
        drifted = finding.drifted
        message = finding.diagnosis if key is None else f"{finding.diagnosis}; proposal {key} waits for a person"
        announce(DriftNoticed(now, 0, drifted.source.id, drifted.adapter_id, RULE, "", message, is_over=False))
    return f"{len(found)} pages looked at, {sum(key is not None for key in keys)} proposals"


def examine(drifted: DriftedTarget) -> SelectorFinding:
    """Return what changed on a page, and the selectors that match it now."""
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
    """Return the reading context of a source's page that was read at `read_at`."""
    european = source.language == "en" and source.time_zone.startswith("Europe/")
    return ReadingContext(
        now=read_at, time_zone=source.time_zone, language=source.language, day_first=True if european else None
    )
