"""The page of webhooks: who is told of what, test it, rotate its secret, see what was sent and send it again."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tidemill.operations.mistakes import Mistake
from tidemill.web.api.parameters import Cursor, Key, Name, Word, run_cursor
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage

MOST_HOURS = 24 * 30
DELIVERIES_SHOWN = 30
SEE_OTHER, UNPROCESSABLE = 303, 422
ShortText = Annotated[str, Form(max_length=2_000)]


def add_webhook_pages(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the page and its forms."""
    webhooks = deps.webhooks

    async def page(
        status: int = 200, wrong: str = "", done: str = "", secret: str = "", only: str | None = None,
        cursor: str | None = None,
    ) -> Response:  # fmt: skip
        found = await webhooks.deliveries(webhook=only, before=run_cursor(cursor), limit=DELIVERIES_SHOWN + 1)
        asked = {"webhook": only} if only else {}
        last = found[:DELIVERIES_SHOWN][-1].id if found else 0
        more = f"/webhooks?{urlencode({**asked, 'cursor': last})}"
        return render(
            "webhooks.html", status, webhooks=await webhooks.every(), feeds=webhooks.feeds(), wrong=wrong, done=done,
            secret=secret, only=only or "", deliveries=found[:DELIVERIES_SHOWN],
            following=more if len(found) > DELIVERIES_SHOWN else None,
        )  # fmt: skip

    @router.get("/webhooks")
    async def every(webhook: Word = None, cursor: Cursor = None, done: Word = None) -> Response:
        return await page(only=webhook or None, cursor=cursor, done=(done or "")[:280])

    @router.post("/webhooks")
    async def subscribe(request: Request, by: ActorName, name: ShortText, url: ShortText, feed: ShortText) -> Response:
        form = await request.form()
        try:
            kinds = [str(each) for each in form.getlist("kinds")]
            made = await webhooks.subscribe(name.strip(), url.strip(), by, feed=feed, kinds=kinds)
        except Mistake as error:
            return await page(UNPROCESSABLE, str(error))
        return await page(201, secret=made.secret, done=f"{name} is told of {feed} from now on.")

    _one_webhook(router, deps, page)
    _deliveries(router, deps, page)


ShowPage = Callable[..., Awaitable[Response]]
"""Renders the page of webhooks, with a status and words about what went wrong."""


def _one_webhook(router: APIRouter, deps: WebDeps, page: ShowPage) -> None:
    webhooks = deps.webhooks

    @router.post("/webhooks/{name}/test")
    async def test(name: Name, by: ActorName) -> Response:
        sent = await webhooks.test(name, by)
        came = f"it answered {sent.last_code}" if sent.last_code else (sent.last_error or "no answer")
        return _back(f"A test notice went to {name}: {came}.")

    @router.post("/webhooks/{name}/rotate")
    async def rotate(name: Name, by: ActorName) -> Response:
        made = await webhooks.rotate(name, by)
        return await page(201, secret=made.secret, done=f"{name} has a new secret; the old one signs for another day.")

    @router.post("/webhooks/{name}/switch")
    async def switch(name: Name, by: ActorName, enabled: ShortText = "") -> Response:
        changed = await webhooks.switch(name, by, enabled=enabled == "yes")
        return _back(f"{name} is {'told again' if changed.enabled else 'told nothing until it is taken up again'}.")

    @router.post("/webhooks/{name}/remove")
    async def remove(name: Name, by: ActorName) -> Response:
        await webhooks.unsubscribe(name, by)
        return _back(f"{name} is removed, with what it still waited for.")


def _deliveries(router: APIRouter, deps: WebDeps, page: ShowPage) -> None:
    webhooks = deps.webhooks

    @router.post("/webhooks/deliveries/retry")
    async def retry(by: ActorName) -> Response:
        return _back(f"{await webhooks.retry(by)} notices that were given up are tried again.")

    @router.post("/webhooks/{name}/replay")
    async def replay_since(name: Name, by: ActorName, hours: ShortText = "") -> Response:
        if not (hours.strip().isascii() and hours.strip().isdigit() and 0 < int(hours) <= MOST_HOURS):
            return await page(UNPROCESSABLE, f"{hours[:20]!r} is no number of hours; write 1 to {MOST_HOURS}")
        count = await webhooks.replay_since(name, deps.clock.now() - timedelta(hours=int(hours)), by)
        return _back(f"{count} notices are sent to {name} again.")

    @router.post("/webhooks/deliveries/{delivery_id}/replay")
    async def replay(delivery_id: Key, by: ActorName) -> Response:
        await webhooks.replay(delivery_id, by)
        return _back(f"Delivery {delivery_id} is sent again, with the same key.")


def _back(words: str) -> Response:
    return RedirectResponse(f"/webhooks?{urlencode({'done': words[:280]})}", SEE_OTHER)
