"""Exports under `/api/v1/exports`: what can be had as a file, and the files, streamed."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response, StreamingResponse

from tidemill.operations.exporting.dataset import ExportDataset, ExportFormat
from tidemill.web.answers import DatasetView
from tidemill.web.api.parameters import AsOf, Word
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import json_responses, text_responses

Form = Annotated[ExportFormat, Query(alias="format", description="The format of the file.")]
After = Annotated[str | None, Query(max_length=300, description="`cursor` of the last row that is there already.")]
Gzip = Annotated[bool, Query(description="Compress the file.")]


def dataset_view(dataset: ExportDataset) -> DatasetView:
    """Return a dataset as people are told of it."""
    return DatasetView(
        name=dataset.name,
        about=dataset.about,
        address=f"/api/v1/exports/{dataset.name}",
        formats=[form.value for form in dataset.formats],
        filters=dataset.filter_names,
        columns=[column.name for column in dataset.columns],
    )


def router(deps: WebDeps) -> APIRouter:
    """Return the route that lists what can be exported."""
    router = APIRouter(prefix="/api/v1", tags=["exports"])

    @router.get("/exports", responses=json_responses(Listed[DatasetView], 503))
    async def exports() -> Response:
        """List what can be exported, with formats and filters."""
        return json_response(Listed([dataset_view(each) for each in deps.exporter.datasets.values()]))

    return router


def export_routers(deps: WebDeps, datasets: Sequence[ExportDataset]) -> list[APIRouter]:
    """Return the routes of a vertical's exports, one per dataset with its own filters."""
    return [_export_router(deps, dataset) for dataset in datasets]


def _export_router(deps: WebDeps, dataset: ExportDataset) -> APIRouter:
    router = APIRouter(prefix="/api/v1", tags=["exports"])
    given = Annotated[dict[str, str], Depends(filters_from_query(dataset.filter_names))]

    async def export(
        by: ActorName,
        filters: given,
        form: Form = ExportFormat.JSONL,
        after: After = None,
        as_of: AsOf = None,
        *,
        gzip: Gzip = False,
    ) -> Response:
        started = await deps.exporter.start(dataset.name, form, filters, by, after=after, gzip=gzip, as_of=as_of)
        headers = {"Content-Disposition": f'attachment; filename="{started.file_name}"'}
        return StreamingResponse(started.pieces, media_type=started.media_type, headers=headers)

    export.__doc__ = f"{dataset.about} A file in constant memory; the last column, `cursor`, goes on from a row."
    media_types = [form.media_type.partition(";")[0] for form in dataset.formats]
    described = text_responses(media_types[0], 404, 409, 422, 503)
    described[200]["content"] = {each: {"schema": {"type": "string"}} for each in (*media_types, "application/gzip")}
    router.get(f"/exports/{dataset.name}", responses=described, name=f"export {dataset.name}")(export)
    return router


def filters_from_query(names: Sequence[str]) -> Callable[..., Awaitable[dict[str, str]]]:
    """Return a dependency that takes each filter as a query parameter; those left empty are left out."""

    async def filters(**given: Any) -> dict[str, str]:
        return {name: value for name, value in given.items() if value}

    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Word) for name in names
    ]
    filters.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # how FastAPI learns names
    return filters
