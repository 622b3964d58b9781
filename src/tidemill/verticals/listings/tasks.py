"""What a person can send to the workers of a cluster by name, as pipelines on Celery are used to."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from tidemill.pipeline.verify import Verifier
from tidemill.verticals.listings.actions import MarketActions
from tidemill.verticals.listings.chores import MarketChores

ACTOR = "task"


def market_tasks(
    actions: MarketActions, chores: MarketChores, verifier: Verifier
) -> Mapping[str, Callable[..., Coroutine[Any, Any, str]]]:
    """Return the tasks by name; each answers in a few words what it did."""

    async def scrape_city_task(market_id: str) -> str:
        started = await actions.scrape(market_id, ACTOR)
        return f"{started.jobs} jobs, {started.rejected} turned away"

    async def verify_listing(listing_id: int) -> str:
        return str(await verifier.verify_record(listing_id))

    return {
        "decay_and_verify": chores.verify_records,
        "scrape_city_task": scrape_city_task,
        "verify_listing": verify_listing,
    }
