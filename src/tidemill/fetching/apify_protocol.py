"""Apify's API: what to ask of an actor, and what the answers mean."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.core.failure import Failure
from tidemill.fetching.service_api import ApiTrouble, ServiceApi
from tidemill.pipeline.ports import WireFailure, WireResponse

MILLIONTHS = 1_000_000
"""Money is counted in millionths of a dollar."""
RUNNING_STATUSES = frozenset({"READY", "RUNNING", "TIMING-OUT", "ABORTING"})
TIMED_OUT_STATUSES = frozenset({"TIMED-OUT", "TIMING-OUT"})
SUCCEEDED = "SUCCEEDED"

RATE_WAIT = timedelta(minutes=5)
DOWN_WAIT = timedelta(minutes=5)
QUOTA_WAIT = timedelta(hours=1)
KEY_WAIT = timedelta(minutes=15)


class BadActorOptions(ValueError):
    """A source's settings for Apify that name no actor or cannot be read."""


class ActorOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which actor reads a source, with what input, and what one run of it may cost in dollars."""

    actor: str
    input: Mapping[str, Any] = msgspec.field(default_factory=dict)
    memory_mb: int | None = None
    max_items: int | None = None
    max_dollars: float = 1.0

    @property
    def max_cost(self) -> int:
        """What one run may cost, in millionths of a dollar."""
        return round(self.max_dollars * MILLIONTHS)

    @property
    def path(self) -> str:
        """The actor's name in a URL: owner and name are joined by a tilde."""
        return self.actor.replace("/", "~")


class ActorRun(msgspec.Struct, frozen=True, rename="camel"):
    """A run as Apify describes it, as far as we need it."""

    id: str
    status: str
    default_dataset_id: str = ""
    status_message: str | None = None
    usage_total_usd: float | None = None

    @property
    def paid(self) -> int | None:
        """What it cost, in millionths of a dollar; None while it is not known."""
        return None if self.usage_total_usd is None else round(self.usage_total_usd * MILLIONTHS)


class ActorRunAnswer(msgspec.Struct, frozen=True):
    """Every answer about a run is wrapped in `data`."""

    data: ActorRun


def options_of(settings: Mapping[str, Any]) -> ActorOptions:
    """Return a source's settings for Apify; raise `BadActorOptions` with a message for a person."""
    if "apify" not in settings:
        msg = "the source does not say which actor reads it; write `settings: {apify: {actor: OWNER/NAME}}`"
        raise BadActorOptions(msg)
    try:
        return msgspec.convert(settings["apify"], ActorOptions)
    except msgspec.ValidationError as error:
        msg = f"the source's settings for apify: {error}"
        raise BadActorOptions(msg) from error


def fill_template(value: Any, known: Mapping[str, str]) -> Any:
    """Return an actor's input with `{url}` and the target's own parameters filled in, at any depth."""
    match value:
        case str():
            for name, text in known.items():
                value = value.replace("{" + name + "}", text)
            return value
        case Mapping():
            return {name: fill_template(each, known) for name, each in value.items()}
        case list() | tuple():
            return [fill_template(each, known) for each in value]
        case _:
            return value


def run_of(answer: WireResponse) -> ActorRun | None:
    """Return the run that an answer describes; None when it cannot be read."""
    try:
        return msgspec.json.decode(answer.body, type=ActorRunAnswer).data
    except msgspec.DecodeError:
        return None


def trouble_of(answer: WireResponse | WireFailure, api: ServiceApi, now: datetime) -> ApiTrouble:
    """Return what Apify's own error means for us.

    What the job itself should try again soon (429, 5xx, network) is a failure of the job and also of Apify.
    """
    if isinstance(answer, WireFailure):
        kind = Failure.TIMED_OUT if answer.failure is Failure.TIMED_OUT else Failure.CONNECTION_LOST
        return ApiTrouble(kind, f"apify cannot be reached: {answer.detail}", now + DOWN_WAIT)
    code, excerpt = answer.status_code, api.excerpt(answer)
    if code == 429:  # noqa: PLR2004 - the codes are the API's
        return ApiTrouble(Failure.RATE_LIMITED, f"apify asks us to wait ({excerpt})", now + RATE_WAIT)
    if code == 402 or (code == 403 and "limit" in excerpt.lower()):  # noqa: PLR2004
        return ApiTrouble(Failure.OUT_OF_QUOTA, f"apify has no usage left for us ({excerpt})", now + QUOTA_WAIT)
    if code in {401, 403}:
        return ApiTrouble(
            Failure.HELD_BACK, f"apify refuses our token; check `apify_token` ({excerpt})", now + KEY_WAIT
        )
    if code in {400, 404}:
        return ApiTrouble(
            Failure.CLIENT_ERROR, f"apify does not take our request ({excerpt})", now, is_service_fault=False
        )
    return ApiTrouble(Failure.SERVER_ERROR, f"apify answered {code} ({excerpt})", now + DOWN_WAIT)
