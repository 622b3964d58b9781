"""Forms that change sources: add one after a look at its page, import targets, scrape now, switch on and off."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tidemill.core.access.roles import Role
from tidemill.core.urls import host_of
from tidemill.operations.importing import Imported
from tidemill.operations.mistakes import Mistake
from tidemill.operations.plans import LARGEST_FILE
from tidemill.pipeline.reader_functions.tried_addresses import AddressTrial
from tidemill.web.api.parameters import Name
from tidemill.web.auth.gate import ActorName, caller_of
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.portal.filters import source_link

ShortText = Annotated[str, Form(max_length=2_000)]
SEE_OTHER, UNPROCESSABLE = 303, 422
FIELDS = ("name", "url", "vertical", "adapter", "fetcher", "schedule", "city", "pace", "tags")


def add_source_forms(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the forms."""
    _adding(router, deps, render)
    _importing(router, deps, render)
    _switching(router, deps)


def _adding(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    async def page(
        given: Mapping[str, str], status: int = 200, wrong: str = "", trial: AddressTrial | None = None
    ) -> Response:
        adapters = sorted(each.id for each in await deps.adapters.every())
        filled = dict.fromkeys(FIELDS, "") | dict(given)
        return render(
            "add_source.html", status, verticals=deps.verticals, adapters=adapters, wrong=wrong, given=filled,
            trial=trial,
        )  # fmt: skip

    @router.get("/add-source")
    async def form() -> Response:
        return await page({})

    @router.post("/try-source")
    async def look(url: ShortText, browser: ShortText = "", city: ShortText = "") -> Response:
        try:
            trial = await deps.try_address(url, browser=browser == "yes", city=city.strip())
        except Mistake as error:
            return await page({"url": url, "city": city}, UNPROCESSABLE, str(error))
        given = {
            "url": trial.url,
            "city": city.strip(),
            "name": host_of(trial.url).removeprefix("www."),
            "fetcher": str(trial.fetcher),
        }
        if trial.best is not None:
            given |= {"vertical": trial.best.vertical, "adapter": trial.best.adapter}
        return await page(given, trial=trial)

    @router.post("/add-source")
    async def add(request: Request, by: ActorName) -> Response:
        form = await request.form()
        given = {name: str(form.get(name, "")).strip()[:2_000] for name in FIELDS}
        approves = form.get("terms") == "yes" and caller_of(request).role.includes(Role.ADMIN)
        entry = entry_of(given, approved_by=by if approves else None, now=deps.clock.now().isoformat())
        done = await deps.importer.source_entries([entry], by)
        if done.problems:
            wrong = "; ".join(f"{each.field}: {each.message}" for each in done.problems)
            return await page(given, UNPROCESSABLE, wrong)
        words = "It is saved, and its page is due at once."
        return RedirectResponse(f"{source_link(given['name'])}?{urlencode({'done': words})}", SEE_OTHER)


def entry_of(given: Mapping[str, str], approved_by: str | None, now: str) -> dict[str, Any]:
    """Return what a form says as an entry of a sources file."""
    target = {"url": given["url"]} | ({"schedule": given["schedule"]} if given["schedule"] else {})
    entry: dict[str, Any] = {
        "name": given["name"], "base_url": given["url"], "vertical": given["vertical"], "targets": [target],
        "adapter": given["adapter"] or f"{given['vertical']}.generic",
    }  # fmt: skip
    entry |= {name: given[name] for name in ("city", "fetcher") if given[name]}
    if given["pace"]:
        entry["pace"] = {"interval_seconds": given["pace"].replace(",", ".")}
    if given["tags"]:
        entry["tags"] = given["tags"].lower().split()
    if approved_by is not None:
        entry["tos"] = {"reviewed_at": now, "approved_by": approved_by}
    return entry


def _importing(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    @router.get("/import-targets")
    async def form() -> Response:
        return render("import_targets.html", done=None, wrong="", tried=False)

    async def imported(file: UploadFile, read: Callable[[bytes, str], Awaitable[Imported]], *, tried: bool) -> Response:
        content = await file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            wrong = f"the file is larger than {LARGEST_FILE} bytes; split it"
            return render("import_targets.html", UNPROCESSABLE, done=None, wrong=wrong, tried=False)
        try:
            done = await read(content, file.filename or "upload")
        except Mistake as error:
            return render("import_targets.html", UNPROCESSABLE, done=None, wrong=str(error), tried=False)
        return render("import_targets.html", done=done, wrong="", tried=tried)

    @router.post("/import-targets")
    async def bring_in(by: ActorName, file: UploadFile, dry_run: ShortText = "") -> Response:
        only_try = dry_run == "yes"

        async def read(content: bytes, name: str) -> Imported:
            return await deps.importer.targets_file(content, by, name, dry_run=only_try)

        return await imported(file, read, tried=only_try)

    @router.post("/import-sources")
    async def bring_in_sources(by: ActorName, file: UploadFile, dry_run: ShortText = "") -> Response:
        only_try = dry_run == "yes"

        async def read(content: bytes, name: str) -> Imported:
            return await deps.importer.sources_file(content, by, name, dry_run=only_try)

        return await imported(file, read, tried=only_try)


def _switching(router: APIRouter, deps: WebDeps) -> None:
    @router.post("/sources/{name}/run")
    async def run(name: Name, by: ActorName) -> Response:
        await deps.runs.start_source(name, by)
        return RedirectResponse(source_link(name), SEE_OTHER)

    @router.post("/sources/{name}/enable")
    async def enable(name: Name, by: ActorName) -> Response:
        return RedirectResponse(source_link((await deps.sources.enable(name, by)).name), SEE_OTHER)

    @router.post("/sources/{name}/disable")
    async def disable(name: Name, by: ActorName, reason: ShortText = "") -> Response:
        return RedirectResponse(source_link((await deps.sources.disable(name, by, reason)).name), SEE_OTHER)
