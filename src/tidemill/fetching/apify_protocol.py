"""Apify's API in our words: what to ask of an actor, and what the answers mean."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.core.failure import Failure
from tidemill.fetching.service_api import Api, ApiTrouble
from tidemill.pipeline.ports import WireFailure, WireResponse

MILLIONTHS = 1_000_000
"""Money is counted in millionths of a dollar."""
RUNNING = frozenset({"READY", "RUNNING", "TIMING-OUT", "ABORTING"})
OVER_TIME = frozenset({"TIMED-OUT", "TIMING-OUT"})
SUCCEEDED = "SUCCEEDED"

RATE_WAIT = timedelta(minutes=5)
DOWN_WAIT = timedelta(minutes=5)
QUOTA_WAIT = timedelta(hours=1)
KEY_WAIT = timedelta(minutes=15)


class BadActorOptions(ValueError):
    """A source's settings for Apify with which no actor can be run."""


class ActorOptions(msgspec.Struct, frozen=True):
    """Which actor reads a source, with what input, and what one run of it may cost in dollars."""

    actor: str
    input: Mapping[str, Any] = msgspec.field(default_factory=dict)
    memory_mb: int | None = None
    max_items: int | None = None
    max_dollars: float = 1.0

    @property
    def most(self) -> int:
        """What one run may cost, in millionths of a dollar."""
        return round(self.max_dollars * MILLIONTHS)

    @property
    def path(self) -> str:
        """The actor in an address: owner and name are joined by a tilde."""
        return self.actor.replace("/", "~")


class ActorRun(msgspec.Struct, frozen=True, rename="camel"):
    """A run as Apify tells of it, as far as we need it."""

    id: str
    status: str
    default_dataset_id: str = ""
    status_message: str | None = None
    usage_total_usd: float | None = None

    @property
    def paid(self) -> int | None:
        """What it cost, in millionths of a dollar; None while nobody says."""
        return None if self.usage_total_usd is None else round(self.usage_total_usd * MILLIONTHS)


class ActorRunAnswer(msgspec.Struct, frozen=True):
    """Every answer about a run is wrapped in `data`."""

    data: ActorRun


def options_of(settings: Mapping[str, Any]) -> ActorOptions:
    """The part of a source's settings that is for Apify; raises `BadActorOptions` with words for a person."""
    if "apify" not in settings:
        msg = "the source does not say which actor reads it; write `settings: {apify: {actor: OWNER/NAME}}`"
        raise BadActorOptions(msg)
    try:
        return msgspec.convert(settings["apify"], ActorOptions)
    except msgspec.ValidationError as error:
        msg = f"the source's settings for apify: {error}"
        raise BadActorOptions(msg) from error


def filled(value: Any, known: Mapping[str, str]) -> Any:
    """An actor's input with `{url}` and the target's own parameters put in, however deep they stand."""
    match value:
        case str():
            for name, text in known.items():
                value = value.replace("{" + name + "}", text)
            return value
        case Mapping():
            return {name: filled(each, known) for name, each in value.items()}
        case list() | tuple():
            return [filled(each, known) for each in value]
        case _:
            return value


def run_of(answer: WireResponse) -> ActorRun | None:
    """The run that an answer tells of; None when it makes no sense."""
    try:
        return msgspec.json.decode(answer.body, type=ActorRunAnswer).data
    except msgspec.DecodeError:
        return None


def trouble_of(answer: WireResponse | WireFailure, api: Api, now: datetime) -> ApiTrouble:
    """What Apify's own complaint means for us.

    What the job itself should try again soon (429, 5xx, network) is a failure of its own and also Apify's.
    """
    if isinstance(answer, WireFailure):
        kind = Failure.TIMED_OUT if answer.failure is Failure.TIMED_OUT else Failure.CONNECTION_LOST
        return ApiTrouble(kind, f"apify cannot be reached: {answer.detail}", now + DOWN_WAIT)
    code, said = answer.status_code, api.words_of(answer)
    if code == 429:  # noqa: PLR2004 - the codes are the API's
        return ApiTrouble(Failure.RATE_LIMITED, f"apify asks us to wait ({said})", now + RATE_WAIT)
    if code == 402 or (code == 403 and "limit" in said.lower()):  # noqa: PLR2004
        return ApiTrouble(Failure.OUT_OF_QUOTA, f"apify has no usage left for us ({said})", now + QUOTA_WAIT)
    if code in {401, 403}:
        return ApiTrouble(Failure.HELD_BACK, f"apify refuses our token; check `apify_token` ({said})", now + KEY_WAIT)
    if code in {400, 404}:
        return ApiTrouble(Failure.CLIENT_ERROR, f"apify does not take our request ({said})", now, is_its_own=False)
    return ApiTrouble(Failure.SERVER_ERROR, f"apify answered {code} ({said})", now + DOWN_WAIT)
