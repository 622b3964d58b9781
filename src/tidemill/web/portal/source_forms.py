"""Forms that change sources: add one, import targets, scrape now, switch on and off."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, UploadFile
from starlette.responses import RedirectResponse, Response

from tidemill.operations.mistakes import Mistake
from tidemill.operations.plans import LARGEST_FILE
from tidemill.web.api.parameters import Name
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.portal.filters import source_link

ShortText = Annotated[str, Form(max_length=2_000)]
SEE_OTHER, UNPROCESSABLE = 303, 422
EMPTY = {"name": "", "url": "", "vertical": "", "schedule": "", "city": ""}


def add_source_forms(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the forms."""
    _adding(router, deps, render)
    _importing(router, deps, render)
    _switching(router, deps)


def _adding(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    async def page(status: int = 200, wrong: str = "", **given: str) -> Response:
        adapters = sorted(each.id for each in await deps.adapters.every())
        return render(
            "add_source.html", status, verticals=deps.verticals, adapters=adapters, wrong=wrong, given=EMPTY | given
        )

    @router.get("/add-source")
    async def form() -> Response:
        return await page()

    @router.post("/add-source")
    async def add(
        by: ActorName,
        name: ShortText,
        url: ShortText,
        vertical: ShortText,
        adapter: ShortText = "",
        schedule: ShortText = "",
        city: ShortText = "",
    ) -> Response:
        entry: dict[str, Any] = {"name": name, "base_url": url, "vertical": vertical, "targets": [{"url": url}]}
        entry["adapter"] = adapter or f"{vertical}.generic"
        if city:
            entry["city"] = city
        if schedule:
            entry["targets"] = [{"url": url, "schedule": schedule}]
        done = await deps.importer.source_entries([entry], by)
        if done.problems:
            wrong = "; ".join(f"{each.field}: {each.message}" for each in done.problems)
            given = {"name": name, "url": url, "vertical": vertical, "schedule": schedule, "city": city}
            return await page(UNPROCESSABLE, wrong, **given)
        return RedirectResponse(source_link(name), SEE_OTHER)


def _importing(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    @router.get("/import-targets")
    async def form() -> Response:
        return render("import_targets.html", done=None, wrong="")

    @router.post("/import-targets")
    async def bring_in(by: ActorName, file: UploadFile) -> Response:
        content = await file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            wrong = f"the file is larger than {LARGEST_FILE} bytes; split it"
            return render("import_targets.html", UNPROCESSABLE, done=None, wrong=wrong)
        try:
            done = await deps.importer.targets_file(content, by, file.filename or "targets.csv")
        except Mistake as error:
            return render("import_targets.html", UNPROCESSABLE, done=None, wrong=str(error))
        return render("import_targets.html", done=done, wrong="")


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
