"""Explanations as a page: anything that `tidemill why` explains, in the same words."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.web.api.parameters import Word
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage


def add_why_page(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the page."""

    @router.get("/why")
    async def why(subject: Word = None) -> Response:
        asked = (subject or "").strip()
        found = await deps.why(asked) if asked else None
        return render("why.html", subject=asked, why=found, forms=deps.why_forms.split(", "))
