"""What a person can do with a wrong price: correct it, ignore it, revoke that."""

from tidemill.core.audit import AuditEntry
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.pipeline.ports import Clock
from tidemill.verticals.prices.store.corrections import Correction, CorrectionRepository
from tidemill.verticals.prices.views import CorrectionView

LEAST_CENTS, MOST_CENTS = 1, 99_999_999
_CODE = 3
"""Letters in a currency's code."""


class CorrectionActions:
    """Adds corrections to prices, which themselves never change; each has a reason and is audited."""

    def __init__(self, repository: CorrectionRepository, clock: Clock) -> None:
        """Act on the store's repository."""
        self._repository = repository
        self._clock = clock

    async def correct(
        self, price_id: int, cents: int, actor: str, reason: str, currency: str | None = None
    ) -> CorrectionView:
        """Show readers another amount instead of a price."""
        if not LEAST_CENTS <= cents <= MOST_CENTS:
            msg = f"a price lies between {LEAST_CENTS} and {MOST_CENTS} cents; ignore it instead, if it never was one"
            raise Mistake(msg)
        if currency is not None and not (len(currency) == _CODE and currency.isascii() and currency.isalpha()):
            msg = f"{currency!r} is no currency; write its code, such as USD"
            raise Mistake(msg)
        code = currency.upper() if currency else None
        correction = Correction(kind="CORRECT", reason=_why(reason), made_by=actor, price_cents=cents, currency=code)
        return await self._one(price_id, correction, "price.correct")

    async def ignore(self, price_id: int, actor: str, reason: str) -> CorrectionView:
        """Hide a price from readers."""
        return await self._one(price_id, Correction(kind="IGNORE", reason=_why(reason), made_by=actor), "price.ignore")

    async def revoke(self, price_id: int, actor: str, reason: str) -> CorrectionView:
        """Revoke earlier corrections of a price."""
        return await self._one(price_id, Correction(kind="REVOKE", reason=_why(reason), made_by=actor), "price.revoke")

    async def ignore_run(self, run_id: int, actor: str, reason: str) -> int:
        """Hide every price of a run from readers, and return how many."""
        keys = await self._repository.of_run(run_id)
        if not keys:
            msg = f"run {run_id} has brought no price; see `tidemill runs list`"
            raise NotFound(msg)
        correction = Correction(kind="IGNORE", reason=_why(reason), made_by=actor)
        note = AuditEntry(actor, "price.ignore", f"run {run_id}", {"prices": len(keys), "reason": reason})
        await self._repository.make(keys, correction, self._clock.now(), [note])
        return len(keys)

    async def every(
        self, *, price_id: int | None = None, before: int | None = None, limit: int = 100, visible_only: bool = False
    ) -> list[CorrectionView]:
        """What was said about prices, the newest first; `visible_only` for readers, who see eligible sources alone."""
        return await self._repository.made(price_id=price_id, before=before, limit=limit, visible_only=visible_only)

    async def _one(self, price_id: int, said: Correction, action: str) -> CorrectionView:
        if not await self._repository.known([price_id]):
            msg = f"there is no price {price_id}; see `tidemill prices history`"
            raise NotFound(msg)
        detail = {"reason": said.reason, "price_cents": said.price_cents, "currency": said.currency}
        note = AuditEntry(said.made_by, action, f"price {price_id}", detail)
        await self._repository.make([price_id], said, self._clock.now(), [note])
        return (await self._repository.made(price_id=price_id, limit=1))[0]


def _why(reason: str) -> str:
    if not reason.strip():
        msg = "say why: whoever looks at the price later will want to know"
        raise Mistake(msg)
    return reason.strip()
