"""What a person can do about a dead letter offline: take it along as a failing test."""

from collections.abc import Awaitable, Callable, Mapping

from tidemill.core.audit import AuditEntry
from tidemill.core.page import Page
from tidemill.core.vertical import Vertical
from tidemill.operations.bundles.bundle import BundleFacts, write_bundle
from tidemill.operations.dead_letters import DeadLetterActions
from tidemill.operations.mistakes import Conflict
from tidemill.pipeline.ports import Clock
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.sources.targets import TargetRepository
from tidemill.store.upkeep.audit import AuditLog

ReadStoredPage = Callable[[int], Awaitable[Page | None]]


class BundleActions:
    """Makes bundles of dead letters; each is audited."""

    def __init__(
        self,
        dead_letters: DeadLetterActions,
        sources: SourceRepository,
        targets: TargetRepository,
        read_page: ReadStoredPage,
        verticals: Mapping[str, Vertical],
        audit: AuditLog,
        clock: Clock,
    ) -> None:
        """`read_page` brings a stored page with its body."""
        self._dead_letters = dead_letters
        self._sources = sources
        self._targets = targets
        self._read_page = read_page
        self._verticals = verticals
        self._audit = audit
        self._clock = clock

    async def bundle(self, dead_letter_id: int, actor: str) -> bytes:
        """Return a dead letter as a zip, with which `tidemill check` fails the same way offline."""
        detail = await self._dead_letters.find(dead_letter_id)
        letter, job = detail.letter, detail.payload
        page = None if job.get("page_id") is None else await self._read_page(job["page_id"])
        if page is None:
            msg = (
                f"dead letter {dead_letter_id} has no stored page: it died at {letter.stage} with {letter.error_type},"
                " or retention let its page go; there is nothing that could be read offline"
            )
            raise Conflict(msg)
        source = None if job.get("source_id") is None else await self._sources.find(job["source_id"])
        if source is None:
            msg = f"the source of dead letter {dead_letter_id} was removed, and its settings with it"
            raise Conflict(msg)
        target = await self._targets.find(letter.target_id)
        adapter_id = source.adapter_id if target is None else target.adapter_id
        facts = BundleFacts(
            letter=dead_letter_id,
            stage=str(letter.stage),
            failure=letter.error_type,
            message=letter.error_message,
            vertical=source.vertical,
            adapter=adapter_id,
            adapter_version=self._version(source.vertical, adapter_id),
            source=source,
            parameters={} if target is None else target.parameters,
            page_number=job.get("page_number", 1),
            page=page,
        )
        note = AuditEntry(actor, "dlq.bundle", f"dead letter {dead_letter_id}", {"page": page.id})
        await self._audit.note([note], self._clock.now())
        return write_bundle(facts)

    def _version(self, vertical: str, adapter_id: str) -> str:
        known = self._verticals.get(vertical)
        adapter = None if known is None else known.adapters.get(adapter_id)
        return "" if adapter is None else adapter.version
