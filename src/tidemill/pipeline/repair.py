"""Repair: compare a page without records with the last good one, and propose selectors."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

import msgspec

from tidemill.core.outcome import Fail
from tidemill.core.quality.drift import DriftRule
from tidemill.core.quality.proposals import DriftedTarget, SelectorFinding, SelectorProof
from tidemill.core.source import Source
from tidemill.core.vertical import Vertical
from tidemill.pipeline.happenings import Announce, DriftNoticed
from tidemill.pipeline.reader_functions.function import FunctionReaders, ReaderFunction
from tidemill.reading.document import Document
from tidemill.reading.reading_context import ReadingContext
from tidemill.reading.repair import diagnose, with_older_layout

BATCH_SIZE = 20


class RepairRepository(Protocol):
    """The repository of pages without records, and of the proposals for them."""

    async def drifted(self, limit: int) -> list[DriftedTarget]:
        """Return targets whose latest page yielded no records and has not been examined yet."""
        ...

    async def keep(self, findings: Sequence[SelectorFinding], now: datetime) -> list[int | None]:
        """Store findings; return the key of each new proposal, None for the others."""
        ...


class Examined(msgspec.Struct, frozen=True, kw_only=True):
    """What changed on a page, and the selectors that match it now, if any do."""

    diagnosis: str
    after: Mapping[str, Any] | None = None
    confidence: float = 0.0
    lost: tuple[str, ...] = ()


class SelectorProver(Protocol):
    """Reads the last good pages of a source again with other selectors."""

    async def prove(self, source: Source, selectors: Mapping[str, Any], good_until: datetime) -> SelectorProof | None:
        """Return how well the selectors read the pages that were good until a moment; None without such pages."""
        ...

    def is_enough(self, proof: SelectorProof) -> bool:
        """Return whether selectors with this proof may be proposed."""
        ...


async def propose_repairs(
    repository: RepairRepository, readers: FunctionReaders, prover: SelectorProver, announce: Announce, now: datetime
) -> str:
    """Examine every page without records once, and announce what is wrong with each.

    Selectors are proposed only if they are proven: they must read the last good pages as these were read then.
    """
    found = [
        await _proven(await examined_target(each, readers), prover) for each in await repository.drifted(BATCH_SIZE)
    ]
    keys = await repository.keep(found, now) if found else []
    for finding, key in zip(found, keys, strict=True):
        drifted = finding.drifted
        message = finding.diagnosis if key is None else f"{finding.diagnosis}; proposal {key} waits for a person"
        rule = DriftRule.POORER_READING if drifted.is_poorer else DriftRule.SELECTORS
        announce(DriftNoticed(now, 0, drifted.source.id, drifted.adapter_id, rule, "", message, is_over=False))
    return f"{len(found)} pages looked at, {sum(key is not None for key in keys)} proposals"


async def _proven(finding: SelectorFinding, prover: SelectorProver) -> SelectorFinding:
    """Return the finding with its proof, or without a proposal if there is none that suffices."""
    if finding.after is None:
        return finding
    proof = await prover.prove(finding.drifted.source, finding.after, finding.drifted.good_at)
    if proof is not None and prover.is_enough(proof):
        words = f"{finding.diagnosis}; {proof.words}"
        return msgspec.structs.replace(finding, proof=proof, diagnosis=words)
    why = "what was kept of good pages is gone" if proof is None else proof.words
    words = f"{finding.diagnosis}; new selectors are not proven, so none are proposed: {why}"
    return msgspec.structs.replace(finding, after=None, diagnosis=words)


async def examined_target(drifted: DriftedTarget, readers: FunctionReaders) -> SelectorFinding:
    """Return what a reader found on a page; one that is too hard has no proposal."""
    examined = await readers.call(EXAMINED, drifted)
    before = selectors_of(drifted)
    if isinstance(examined, Fail):
        return SelectorFinding(drifted=drifted, diagnosis=f"cannot be examined: {examined.detail}", before=before)
    return SelectorFinding(
        drifted=drifted,
        diagnosis=examined.diagnosis,
        before=before,
        after=examined.after,
        confidence=examined.confidence,
        lost=examined.lost,
    )


def selectors_of(drifted: DriftedTarget) -> dict[str, Any]:
    """Return the selectors that the target's source has."""
    before: Any = drifted.source.adapter_settings.get("selectors")
    return dict(before) if isinstance(before, dict) else {}


def examine(drifted: DriftedTarget, _verticals: Mapping[str, Vertical]) -> Examined:
    """Return what changed on a page, and the selectors that match it now."""
    before = selectors_of(drifted)
    then, now = (
        reading_context_of(drifted.source, drifted.good_at),
        reading_context_of(drifted.source, drifted.page.fetched_at),
    )
    diagnosis = diagnose(Document.of(drifted.page), drifted.known, then, now, before)
    repair = diagnosis.repair
    if repair is None:
        return Examined(diagnosis=diagnosis.words)
    after = with_older_layout(Document.of(drifted.page), repair.spec, before)
    return Examined(diagnosis=diagnosis.words, after=after, confidence=repair.confidence, lost=repair.lost)


EXAMINED = ReaderFunction("repair.examined", DriftedTarget, Examined, examine)


def reading_context_of(source: Source, read_at: datetime) -> ReadingContext:
    """Return the reading context of a source's page that was read at `read_at`."""
    european = source.language == "en" and source.time_zone.startswith("Europe/")
    return ReadingContext(
        now=read_at, time_zone=source.time_zone, language=source.language, day_first=True if european else None
    )
