"""What a person can do with links between offers and products: link, unlink, create a product."""

from tidemill.core.audit import AuditEntry
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.pipeline.ports import Clock
from tidemill.verticals.prices.store.links import ProductLinkRepository
from tidemill.verticals.prices.views import LinkView

WAITING = "REVIEW"


class LinkActions:
    """Links offers by hand, which overrides the resolver; every action is audited."""

    def __init__(self, repository: ProductLinkRepository, clock: Clock) -> None:
        """Act on the store's repository."""
        self._repository = repository
        self._clock = clock

    async def review(self, *, after: int = 0, limit: int = 100) -> list[LinkView]:
        """Return the offers that the resolver left for a person, with the reason."""
        return await self._repository.links(status=WAITING, after=after, limit=limit)

    async def of_product(self, product_id: int, *, limit: int = 100) -> list[LinkView]:
        """Return the offers linked to one product."""
        return await self._repository.links(product_id=product_id, limit=limit)

    async def find(self, source_product_id: int) -> LinkView:
        """Return an offer's link; raise `NotFound` if there is no such offer."""
        found = await self._repository.find(source_product_id)
        if found is None:
            msg = f"there is no offer {source_product_id}; see `tidemill prices offers`"
            raise NotFound(msg)
        return found

    async def link(self, source_product_id: int, product_id: int, actor: str) -> LinkView:
        """Link an offer to a product."""
        before = await self.find(source_product_id)
        if not await self._repository.has_product(product_id):
            msg = f"there is no product {product_id}; `tidemill prices new-product {source_product_id}` makes one"
            raise NotFound(msg)
        note = _note(actor, "product.link", before, product_id)
        await self._repository.link(source_product_id, product_id, actor, self._clock.now(), [note])
        return await self.find(source_product_id)

    async def unlink(self, source_product_id: int, actor: str) -> LinkView:
        """Unlink an offer from every product until it is linked again."""
        before = await self.find(source_product_id)
        note = _note(actor, "product.unlink", before, None)
        await self._repository.link(source_product_id, None, actor, self._clock.now(), [note])
        return await self.find(source_product_id)

    async def new_product(self, source_product_id: int, actor: str) -> LinkView:
        """Create a product from an offer that is not linked."""
        before = await self.find(source_product_id)
        if before.product_id is not None:
            msg = f"offer {source_product_id} stands for product {before.product_id}; unlink it first"
            raise Mistake(msg)
        note = _note(actor, "product.make", before, None)
        await self._repository.make_product(source_product_id, actor, self._clock.now(), [note])
        return await self.find(source_product_id)


def _note(actor: str, action: str, before: LinkView, product_id: int | None) -> AuditEntry:
    detail = {"was": before.product_id, "is": product_id, "title": before.title}
    return AuditEntry(actor, action, f"offer {before.source_product_id}", detail)
