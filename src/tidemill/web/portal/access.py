"""The pages for signing in, one's own account, people and tokens."""

from typing import Annotated

from fastapi import APIRouter, Form, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tidemill.core.access.lifetimes import LONGEST_SESSION
from tidemill.core.access.roles import CallerKind, Role, TokenScope
from tidemill.operations.access.signing_in import SignedIn, SignInRefused
from tidemill.operations.mistakes import Mistake
from tidemill.web.api.parameters import Key, Name
from tidemill.web.api.people import welcome_path
from tidemill.web.auth.callers import cookie_name
from tidemill.web.auth.gate import ActorName, caller_of
from tidemill.web.auth.origins import address_of_caller, is_local
from tidemill.web.auth.refusals import NotAllowed
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage

Link = Annotated[str, Query(max_length=100)]
ShortText = Annotated[str, Form(max_length=300)]
SEE_OTHER, REFUSED = 303, 401


def add_access_pages(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the pages of signing in, of oneself, and of people and tokens."""
    _signing_in(router, deps, render)
    _welcome(router, deps, render)
    _account(router, deps, render)
    _people(router, deps, render)
    _tokens(router, deps, render)


def _signing_in(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    @router.get("/sign-in")
    async def form(next: Annotated[str, Query(max_length=2_000)] = "/") -> Response:  # noqa: A002 - its name in the address
        empty = await deps.access.people.is_empty()
        return render("sign_in.html", next=own_path(next), nobody=empty, refused="")

    @router.post("/sign-in")
    async def sign_in(
        request: Request, name: ShortText, password: ShortText, next: ShortText = "/"  # noqa: A002 - as above
    ) -> Response:  # fmt: skip
        require_privacy(request)
        agent = request.headers.get("user-agent", "")
        try:
            begun = await deps.access.signing_in.sign_in(name, password, address_of_caller(request), agent)
        except SignInRefused as error:
            page = render("sign_in.html", REFUSED, next=own_path(next), nobody=False, refused=str(error))
            if error.retry_after is not None:
                page.headers["Retry-After"] = str(error.retry_after)
            return page
        return with_session(RedirectResponse(own_path(next), SEE_OTHER), request, begun)


def _welcome(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    @router.get("/welcome")
    async def form(link: Link) -> Response:
        found = await deps.access.people.link(link)
        return render("welcome.html", link=link, name=found.name, wrong="")

    @router.post("/welcome")
    async def choose(
        request: Request, link: ShortText, password: ShortText, again: ShortText, name: ShortText = ""
    ) -> Response:
        require_privacy(request)
        found = await deps.access.people.link(link)
        if password != again:
            return render("welcome.html", 422, link=link, name=found.name, wrong="the two passwords differ")
        try:
            who = await deps.access.people.redeem(link, name, password)
        except Mistake as error:
            return render("welcome.html", 422, link=link, name=found.name, wrong=str(error))
        agent = request.headers.get("user-agent", "")
        begun = await deps.access.signing_in.begin_by_name(who, address_of_caller(request), agent)
        return with_session(RedirectResponse("/", SEE_OTHER), request, begun)


def _account(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    @router.get("/account")
    async def account(request: Request) -> Response:
        caller = caller_of(request)
        sessions = await deps.access.signing_in.sessions(caller.name) if caller.kind is CallerKind.PERSON else []
        return render("account.html", sessions=sessions, this=caller.session[:12])

    @router.post("/account/sign-out")
    async def sign_out(request: Request) -> Response:
        caller = caller_of(request)
        if caller.kind is CallerKind.PERSON:
            await deps.access.signing_in.end(caller.name, caller.session, caller.name)
        response = RedirectResponse("/sign-in", SEE_OTHER)
        response.delete_cookie(cookie_name(request), path="/")
        return response

    @router.post("/account/sessions/{session}/end")
    async def end(session: Name, request: Request) -> Response:
        caller = caller_of(request)
        await deps.access.signing_in.end(caller.name, session, caller.name)
        return RedirectResponse("/account", SEE_OTHER)


def _people(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    people = deps.access.people

    async def page(status: int = 200, **shown: str) -> Response:
        values = {"link": "", "link_for": "", "secret": "", "wrong": "", **shown}
        everybody, tokens = await people.every(), await deps.access.tokens.every()
        return render(
            "people.html", status, people=everybody, tokens=tokens, roles=list(Role), scopes=list(TokenScope), **values
        )

    @router.get("/people")
    async def every() -> Response:
        return await page()

    @router.post("/people")
    async def invite(name: ShortText, role: Annotated[Role, Form()], by: ActorName) -> Response:
        try:
            secret = await people.invite(name, role, by)
        except Mistake as error:
            return await page(422, wrong=str(error))
        return await page(201, link=welcome_path(secret), link_for=name)

    @router.post("/people/{name}/reset")
    async def reset(name: Name, by: ActorName) -> Response:
        return await page(201, link=welcome_path(await people.reset(name, by)), link_for=name)

    @router.post("/people/{name}/role")
    async def change_role(name: Name, role: Annotated[Role, Form()], by: ActorName) -> Response:
        await people.change_role(name, role, by)
        return RedirectResponse("/people", SEE_OTHER)

    @router.post("/people/{name}/disable")
    async def disable(name: Name, by: ActorName) -> Response:
        await people.set_disabled(name, by, disabled=True)
        return RedirectResponse("/people", SEE_OTHER)

    @router.post("/people/{name}/enable")
    async def enable(name: Name, by: ActorName) -> Response:
        await people.set_disabled(name, by, disabled=False)
        return RedirectResponse("/people", SEE_OTHER)

    @router.post("/people/{name}/remove")
    async def remove(name: Name, by: ActorName) -> Response:
        await people.remove(name, by)
        return RedirectResponse("/people", SEE_OTHER)


def _tokens(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    tokens = deps.access.tokens

    @router.post("/tokens")
    async def make(
        name: ShortText, scope: Annotated[TokenScope, Form()], by: ActorName, days: ShortText = ""
    ) -> Response:
        made = await tokens.make(name, scope, by, days=int(days) if days.isdecimal() else None)
        return render("token.html", 201, made=made)

    @router.post("/tokens/{token_id}/revoke")
    async def revoke(token_id: Key, by: ActorName) -> Response:
        await tokens.revoke(token_id, by)
        return RedirectResponse("/people", SEE_OTHER)


def with_session(response: Response, request: Request, begun: SignedIn) -> Response:
    """Return the response with the cookie of a session."""
    response.set_cookie(
        cookie_name(request), begun.secret, max_age=int(LONGEST_SESSION.total_seconds()), path="/",
        secure=request.url.scheme == "https", httponly=True, samesite="lax",
    )  # fmt: skip
    return response


def require_privacy(request: Request) -> None:
    """Raise `NotAllowed` where a password would travel readable: plain HTTP is for this machine alone."""
    if request.url.scheme != "https" and not is_local(request):
        raise NotAllowed(403, "Passwords are only taken over HTTPS.", "Put a proxy with TLS before Tidemill.")


def own_path(path: str) -> str:
    """Return a path of ours to go on to; anything that leads elsewhere becomes the front page."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else "/"
