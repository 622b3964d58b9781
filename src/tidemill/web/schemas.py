"""The OpenAPI description of what the API answers, made from the types that are sent."""

from collections.abc import Sequence
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from tidemill.core.alerts.rounds import RoundSummary
from tidemill.core.discovery.candidates import Candidate
from tidemill.core.quality.proposals import Proposal
from tidemill.core.record import Found
from tidemill.core.replay.views import ReadingChange, ReplayView, ReplayWithReport
from tidemill.core.services.degradation import ServiceStatus
from tidemill.core.source import Source
from tidemill.core.target import Target
from tidemill.core.views import (
    BreakerView,
    DeadLetterDetail,
    DeadLetterView,
    JobDetail,
    JobView,
    PageDetail,
    PageView,
    RunDetail,
    RunView,
    SourceDetail,
    SourceView,
    TargetDetail,
    TargetView,
    TickView,
    Totals,
    UpgradeView,
)
from tidemill.core.views.access import PersonView, SessionView, TokenView
from tidemill.core.views.browsers import PoolView
from tidemill.core.views.changes import (
    DeliveryDetail,
    DeliveryView,
    FeedView,
    RecordChange,
    SubscriptionView,
)
from tidemill.core.views.incidents import IncidentDetail, IncidentView
from tidemill.core.views.objectives import ObjectiveView
from tidemill.core.views.quality import QuarantinedView
from tidemill.operations.access.tokens import MadeToken
from tidemill.operations.adapters import AdapterLine, Blessed, Enabled
from tidemill.operations.breakers import BreakerReset
from tidemill.operations.dead_letters import HandledDeadLetters
from tidemill.operations.importing import Imported
from tidemill.operations.incidents import AlertLine, TestedChannel
from tidemill.operations.quarantine import Reviewed
from tidemill.operations.runs import Started
from tidemill.operations.webhooks.actions import Subscribed
from tidemill.operations.why.explanation import Explanation
from tidemill.store.alerts.outbox import OutboxLine
from tidemill.store.quality.adapter_fit import KeptBaseline
from tidemill.store.upkeep.audit import Noted
from tidemill.web.answers import DatasetView, LinkMade, Me, SettingView, TickRun
from tidemill.web.health import Health
from tidemill.web.responses import PROBLEM_TYPE, Counted, Listed, ProblemDetails
from tidemill.web.system_monitor import SystemStatus

RESPONSE_TYPES: tuple[Any, ...] = (
    Health, SystemStatus, ProblemDetails, Explanation,
    Listed[SourceView], SourceDetail, Source, Listed[RunView], RunDetail, Started, Listed[TargetView], Target, Imported,
    Listed[AdapterLine], AdapterLine, Listed[KeptBaseline],
    Enabled, Blessed, Listed[IncidentView], IncidentDetail, Listed[ObjectiveView],
    Listed[TestedChannel], Listed[AlertLine], Listed[OutboxLine], Listed[RoundSummary],
    Listed[QuarantinedView], QuarantinedView, Reviewed, Listed[Proposal], Proposal, Listed[ReplayView], ReplayView,
    ReplayWithReport, Listed[ReadingChange], Listed[Candidate], Candidate,
    Listed[ServiceStatus], Listed[UpgradeView], UpgradeView, Counted,
    Listed[JobView], JobDetail, Listed[BreakerView], Listed[BreakerReset], BreakerReset,
    Listed[DeadLetterView], DeadLetterDetail, HandledDeadLetters, Listed[PageView], PageDetail, Found,
    Listed[TickView], TickRun, Listed[PoolView], Listed[Noted], Listed[SettingView], TargetDetail,
    Listed[PersonView], PersonView, Listed[SessionView], LinkMade, Me, Listed[TokenView], TokenView, MadeToken,
    Listed[DatasetView], Listed[FeedView], Listed[SubscriptionView], SubscriptionView, Subscribed, Listed[DeliveryView],
    DeliveryView, DeliveryDetail, Listed[RecordChange],
)  # fmt: skip
"""What the generic routes answer with; a vertical brings its own types along."""

CHANGE_ERRORS = (401, 403, 404, 422, 503)
"""The statuses by which most routes that change something may fail."""

_REFERENCE = "#/components/schemas/{name}"


def _hook(kind: type) -> dict[str, Any]:
    """What msgspec has no words for: a record is an object whose shape is its vertical's."""
    if kind is msgspec.Raw:
        return {"type": "object"}
    raise NotImplementedError  # how a hook tells msgspec that it has nothing to say


def _schema_of(types: Sequence[Any]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    """The schema of each type, and the named ones that these refer to."""
    return msgspec.json.schema_components(types, schema_hook=_hook, ref_template=_REFERENCE)


_ERRORS = {
    400: "The cursor is malformed.",
    401: "A token is needed.",
    403: "Not from there.",
    404: "It does not exist.",
    409: "It contradicts how things stand.",
    410: "The cursor is older than what is kept.",
    412: "It was changed since it was read.",
    413: "The body is too large.",
    421: "Not called by that name: see `web_allowed_hosts`.",
    422: "A parameter cannot be used.",
    429: "The queue is full, or the token is used too often; Retry-After says when to come back.",
    503: "The database is away; try again later.",
}


def json_responses(
    kind: Any, *errors: int, description: str = "The answer.", success: int = 200
) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route: the type that it answers with, and the statuses by which it may fail."""
    described: dict[int | str, dict[str, Any]] = {success: {"description": description, "content": _json(kind)}}
    return described | {each: {"description": _ERRORS[each], "content": _problem()} for each in errors}


def text_responses(media_type: str, *errors: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route that answers in another format than JSON."""
    content = {media_type: {"schema": {"type": "string"}}}
    return {**json_responses(ProblemDetails, *errors), 200: {"description": "The answer.", "content": content}}


def _problem() -> dict[str, Any]:
    return {PROBLEM_TYPE: _json(ProblemDetails)["application/json"]}


def _json(kind: Any) -> dict[str, Any]:
    (schema,), _ = _schema_of([kind])
    return {"application/json": {"schema": schema}}


def describe(app: FastAPI, response_types: Sequence[Any], totals: type[Totals]) -> dict[str, Any]:
    """Return the OpenAPI document, with our types among its components and without the framework's error shape.

    `totals` is the type with the figures of every vertical, which takes the place of the generic one.
    """
    document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    components = document.setdefault("components", {}).setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        components.pop(unused, None)
    components.update(_schema_of(response_types)[1])
    components.update(_schema_of([totals])[1])
    for operation in (each for methods in document["paths"].values() for each in methods.values()):
        _describe_limits(operation)
    return document


def _describe_limits(operation: dict[str, Any]) -> None:
    """Add what any route may answer before it is asked: not by that name, not so much, and not by anybody."""
    for status in (401, 403, 413, 421, 429, 503):
        operation["responses"].setdefault(str(status), {"description": _ERRORS[status], "content": _problem()})
