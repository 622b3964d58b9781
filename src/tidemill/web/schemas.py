"""What the API answers, described for OpenAPI: made from the very values that are sent."""

from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from tidemill.core.candidates import Candidate
from tidemill.core.degradation import ServiceStatus
from tidemill.core.proposals import Proposal
from tidemill.core.target import Target
from tidemill.core.views import RunDetail, RunView, SourceDetail, SourceView, TargetView, UpgradeView
from tidemill.core.views.quality import DeliveryView, IncidentView, QuarantinedView, SubscriptionView
from tidemill.operations.adapters import AdapterLine, Blessed, Enabled
from tidemill.operations.explanation import Explanation
from tidemill.operations.importing import Imported
from tidemill.operations.quarantine import Reviewed
from tidemill.operations.runs import Started
from tidemill.operations.webhooks import Subscribed
from tidemill.verticals.events.views import CardView, EventStory
from tidemill.verticals.listings.market import Market
from tidemill.verticals.listings.views import ListingDetail, ListingView
from tidemill.verticals.prices.views import (
    ChangeView,
    CorrectionView,
    LinkView,
    LowestView,
    OfferView,
    PricePoint,
    ProductDetail,
    ProductView,
)
from tidemill.web.answers import ErrorBody, Listed
from tidemill.web.health import Health
from tidemill.web.system_watch import SystemStatus

ANSWERS: tuple[Any, ...] = (
    Listed[Proposal], Proposal,
    Listed[SourceView], Listed[RunView], Listed[CardView], SourceDetail, RunDetail, EventStory, Explanation,
    Health, SystemStatus, Listed[ServiceStatus], Listed[UpgradeView], UpgradeView, ErrorBody,
    Listed[ProductView], ProductDetail, Listed[LowestView], Listed[PricePoint], Listed[OfferView], Listed[ChangeView],
    Listed[QuarantinedView], QuarantinedView, Reviewed, Listed[CorrectionView], CorrectionView, Listed[LinkView],
    LinkView, Listed[SubscriptionView], SubscriptionView, Subscribed, Listed[DeliveryView], Listed[TargetView], Target,
    Listed[Candidate], Candidate, Imported, Started, Listed[AdapterLine], AdapterLine, Enabled, Blessed,
    Listed[IncidentView],
    Listed[Market], Market, Started, Listed[ListingView], ListingDetail, dict[str, Any],
)  # fmt: skip

REFERENCE = "#/components/schemas/{name}"


def _hook(kind: type) -> dict[str, Any]:
    """What msgspec has no words for: a record is an object whose shape is its vertical's."""
    if kind is msgspec.Raw:
        return {"type": "object"}
    raise NotImplementedError  # how a hook tells msgspec that it has nothing to say


_schemas, COMPONENTS = msgspec.json.schema_components(ANSWERS, schema_hook=_hook, ref_template=REFERENCE)
_OF = dict(zip(map(str, ANSWERS), _schemas, strict=True))

_TROUBLES = {
    401: "A token is needed.",
    403: "Not from there.",
    404: "It does not exist.",
    409: "It contradicts how things stand.",
    422: "A parameter cannot be used.",
    429: "The queue is full; Retry-After says when to come back.",
    503: "The database is away; try again later.",
}


def answers(kind: Any, *troubles: int, description: str = "The answer.") -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: what it sends when all goes well, and the ways in which it may not."""
    well: dict[int | str, dict[str, Any]] = {200: {"description": description, "content": _json(_OF[str(kind)])}}
    failing: dict[int | str, dict[str, Any]] = {
        each: {"description": _TROUBLES[each], "content": _json(_OF[str(ErrorBody)])} for each in troubles
    }
    return {**well, **failing}


def of_kind(media_type: str, *troubles: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that answers in another format than JSON."""
    well: dict[int | str, dict[str, Any]] = {
        200: {"description": "The answer.", "content": {media_type: {"schema": {"type": "string"}}}}
    }
    return {**answers(ErrorBody, *troubles), **well}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def describe(app: FastAPI) -> dict[str, Any]:
    """The whole document, with our values among its components and without the framework's own error shape."""
    document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    components = document.setdefault("components", {}).setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        components.pop(unused, None)
    components.update(COMPONENTS)
    return document
