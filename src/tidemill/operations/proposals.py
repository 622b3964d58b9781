"""What a person can do with proposed selectors: show, accept and reject."""

from tidemill.core.audit import AuditEntry
from tidemill.core.quality.proposals import Proposal, ProposalStatus
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.pipeline.ports import Clock
from tidemill.store.quality.proposals import Proposals


class ProposalActions:
    """Decides on proposals; every action is audited."""

    def __init__(self, repository: Proposals, clock: Clock) -> None:
        """Work on what is kept."""
        self._repository = repository
        self._clock = clock

    async def every(self, *, everything: bool = False) -> list[Proposal]:
        """What waits for a person; with `everything` also what was decided, and pages for which there is none."""
        return await self._repository.every(None if everything else ProposalStatus.OPEN)

    async def find(self, key: int) -> Proposal:
        """One proposal."""
        found = await self._repository.find(key)
        if found is None:
            msg = f"There is no proposal {key}; `tidemill proposals list` shows what waits."
            raise NotFound(msg)
        return found

    async def accept(self, key: int, actor: str) -> Proposal:
        """Let the source be read by the proposed selectors from now on."""
        proposal = await self._waiting(key)
        detail = {"before": dict(proposal.before), "after": dict(proposal.after or {})}
        note = AuditEntry(actor, "proposal.accepted", f"source {proposal.source_name}", detail)
        if not await self._repository.accept(proposal, actor, self._clock.now(), [note]):
            raise _decided(key)
        return await self.find(key)

    async def reject(self, key: int, actor: str) -> Proposal:
        """Leave the source as it is, and do not propose the same again."""
        proposal = await self._waiting(key)
        note = AuditEntry(actor, "proposal.rejected", f"source {proposal.source_name}", {"proposal": key})
        if not await self._repository.reject(proposal, actor, self._clock.now(), [note]):
            raise _decided(key)
        return await self.find(key)

    async def _waiting(self, key: int) -> Proposal:
        proposal = await self.find(key)
        if proposal.status is not ProposalStatus.OPEN:
            raise _decided(key)
        return proposal


def _decided(key: int) -> Mistake:
    return Mistake(f"Proposal {key} does not wait for a decision any more; `tidemill proposals show {key}` says why.")
