"""The page from which data is taken away as files."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.web.api.exports import dataset_view
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage


def add_export_page(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the page that lists what can be exported, each with a form."""

    @router.get("/exports")
    async def exports() -> Response:
        return render("exports.html", datasets=[dataset_view(each) for each in deps.exporter.datasets.values()])
