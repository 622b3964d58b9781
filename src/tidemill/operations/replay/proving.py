"""Proving selectors before they are proposed: a replay of the source's newest pages, held to what was good of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tidemill.core.quality.proposals import SelectorProof
from tidemill.core.replay.gate import GateThresholds
from tidemill.core.replay.views import ChangeStatus, ReplayScope
from tidemill.core.source import Source
from tidemill.operations.replay.runner import ReplayRunner
from tidemill.pipeline.ports import Clock
from tidemill.store.replays.replays import ReplayRepository

REPAIR = "the repair"
"""Who asks for replays of proposed selectors."""


@dataclass(frozen=True, slots=True)
class ReplayProver:
    """Replays a source's newest pages with other selectors; one that proves nothing leaves no report behind."""

    repository: ReplayRepository
    runner: ReplayRunner
    clock: Clock
    allowed: GateThresholds
    pages: int

    async def prove(self, source: Source, selectors: Mapping[str, Any], good_until: datetime) -> SelectorProof | None:
        """Return how well the selectors read the pages that were good until a moment; None without such pages."""
        now = self.clock.now()
        scope = ReplayScope(source=source.name, until=now, pages=self.pages, selectors=dict(selectors), only_read=True)
        key = await self.repository.begin(scope, ChangeStatus.UNPROVEN, REPAIR, now)
        await self.runner.run(key)
        pages = then = read = same = 0
        async for _, page in self.repository.walk(key):
            found = page.difference
            if found is not None and found.then_verdicts[0] and page.fetched_at <= good_until:
                pages += 1
                then += found.then_verdicts[0]
                read += found.now_verdicts[0]
                same += found.same
        proof = SelectorProof(
            pages=pages, precision=same / read if read else 0.0, recall=same / then if then else 0.0, replay_id=key
        )
        if not pages or not self.is_enough(proof):
            await self.repository.remove(key, self.clock.now(), ())
        return proof if pages else None

    def is_enough(self, proof: SelectorProof) -> bool:
        """Return whether selectors with this proof may be proposed: what the gate lets pass, they may alter."""
        return (
            proof.recall >= 1 - self.allowed.lost_percent / 100
            and proof.precision >= 1 - self.allowed.changed_percent / 100
        )
