"""Dead letters under `/api/v1/dead-letters`: list, show, retry and discard, singly and in bulk."""

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from tidemill.core.dead_letter import DeadLetterStatus
from tidemill.core.outcome import Stage
from tidemill.core.views import DeadLetterDetail, DeadLetterFilter, DeadLetterView
from tidemill.operations.bundles.bundle import file_name
from tidemill.operations.dead_letters import HandledDeadLetters
from tidemill.web import lookup
from tidemill.web.api.parameters import LONGEST_TEXT, Cursor, Key, Limit, Word, run_cursor
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response, list_page, redacted_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses, text_responses
from tidemill.web.strict_input import RequestBody


class DeadLettersWanted(RequestBody):
    """Which pending dead letters an action is for; an empty one is for all."""

    source: str | None = Field(None, max_length=300)
    stage: Stage | None = None
    error_type: str | None = Field(None, max_length=100)
    notes: str = Field("", max_length=LONGEST_TEXT)


class DiscardNotes(RequestBody):
    """Why a dead letter is discarded."""

    notes: str = Field("", max_length=LONGEST_TEXT)


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of dead letters."""
    router = APIRouter(prefix="/api/v1", tags=["dead letters"])
    _read(router, deps)
    _act(router, deps)
    return router


def _read(router: APIRouter, deps: WebDeps) -> None:
    @router.get("/dead-letters", responses=json_responses(Listed[DeadLetterView], 404, 422, 503))
    async def dead_letters(
        source: Word = None,
        status: DeadLetterStatus | None = None,
        stage: Stage | None = None,
        error_type: Word = None,
        cursor: Cursor = None,
        limit: Limit = 100,
    ) -> Response:
        """List dead letters, the newest first."""
        source_id = await lookup.source_id(deps, source)
        which = DeadLetterFilter(status=status, source_id=source_id, stage=stage, error_type=error_type)
        found = await deps.views.dead_letters(which, before=run_cursor(cursor), limit=limit + 1)
        return redacted_response(list_page(found, limit))

    @router.get("/dead-letters/{dead_letter_id:int}", responses=json_responses(DeadLetterDetail, 404, 422, 503))
    async def dead_letter(dead_letter_id: Key) -> Response:
        """Show a dead letter with its stack and the payload to retry from."""
        return redacted_response(await deps.dead_letters.find(dead_letter_id))

    @router.get(
        "/dead-letters/{dead_letter_id:int}/bundle", responses=text_responses("application/zip", 404, 409, 422, 503)
    )
    async def bundle(dead_letter_id: Key, by: ActorName) -> Response:
        """Take a dead letter along as a failing test: a zip on which `tidemill check` fails the same way offline."""
        content = await deps.bundles.bundle(dead_letter_id, by)
        name = {"Content-Disposition": f'attachment; filename="{file_name(dead_letter_id)}"'}
        return Response(content, media_type="application/zip", headers=name)


def _act(router: APIRouter, deps: WebDeps) -> None:
    @router.post("/dead-letters/retry", responses=json_responses(HandledDeadLetters, *CHANGE_ERRORS))
    async def retry_all(wanted: DeadLettersWanted, by: ActorName) -> Response:
        """Retry every pending dead letter that matches, each at the stage where its job failed."""
        return json_response(await deps.dead_letters.retry_all(await _filter(deps, wanted), by))

    @router.post("/dead-letters/discard", responses=json_responses(HandledDeadLetters, *CHANGE_ERRORS))
    async def discard_all(wanted: DeadLettersWanted, by: ActorName) -> Response:
        """Discard every pending dead letter that matches; that cannot be undone."""
        return json_response(await deps.dead_letters.discard_all(await _filter(deps, wanted), by, wanted.notes))

    @router.post(
        "/dead-letters/{dead_letter_id:int}/retry", responses=json_responses(HandledDeadLetters, *CHANGE_ERRORS)
    )
    async def retry(dead_letter_id: Key, by: ActorName) -> Response:
        """Retry one now, at the stage where its job failed."""
        return json_response(await deps.dead_letters.retry(dead_letter_id, by))

    @router.post(
        "/dead-letters/{dead_letter_id:int}/discard", responses=json_responses(HandledDeadLetters, *CHANGE_ERRORS)
    )
    async def discard(dead_letter_id: Key, why: DiscardNotes, by: ActorName) -> Response:
        """Discard one; its notes say why."""
        return json_response(await deps.dead_letters.discard(dead_letter_id, by, why.notes))


async def _filter(deps: WebDeps, wanted: DeadLettersWanted) -> DeadLetterFilter:
    source_id = await lookup.source_id(deps, wanted.source)
    return DeadLetterFilter(source_id=source_id, stage=wanted.stage, error_type=wanted.error_type)
