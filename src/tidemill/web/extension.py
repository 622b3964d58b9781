"""What a vertical adds to the web app, as one value."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.views import Totals
from tidemill.web.auth.permissions import Permissions
from tidemill.web.health import Late


class RenderPage(Protocol):
    """Fills a template; a template of a vertical is named `VERTICAL/FILE`."""

    def __call__(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return the page."""
        ...


@dataclass(frozen=True, slots=True)
class NavigationLink:
    """An entry in the navigation at the top of every page."""

    label: str
    path: str


@dataclass(frozen=True, slots=True)
class HomeTile:
    """A figure on the home page, with a link to what it counts."""

    label: str
    count: int
    note: str
    path: str


@dataclass(frozen=True, slots=True)
class HomeSection:
    """A part of the home page: its template reads what `load` returns, for a moment, as `section`."""

    template: str
    load: Callable[[datetime], Awaitable[Mapping[str, Any]]]


def _no_tiles(totals: Totals) -> Sequence[HomeTile]:  # noqa: ARG001 - a vertical that counts nothing looks at nothing
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalExtension:
    """The pages of a vertical.

    `navigation` stands at the top of every page, `more` in the menu beside it. `templates` is their folder,
    `filters` are what these templates use beside the generic ones. `records_path` is
    where the records of a source are listed, given the source's name. `static` is a folder of files that are served
    below `/static/VERTICAL`.
    """

    templates: Path
    routes: Callable[[RenderPage], APIRouter]
    navigation: Sequence[NavigationLink] = ()
    more: Sequence[NavigationLink] = ()
    filters: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    home_tiles: Callable[[Totals], Sequence[HomeTile]] = _no_tiles
    home_sections: Sequence[HomeSection] = ()
    records_path: Callable[[str], str] | None = None
    static: Path | None = None


async def _nothing_overdue() -> Sequence[Late]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebExtension:
    """The routes and pages of one vertical.

    `permissions` says what each of its routes needs. `response_types` are the types that its routes answer with, for
    the OpenAPI description; `overdue` tells what of
    the vertical the schedule has passed over.
    """

    vertical: str
    routers: Sequence[APIRouter] = ()
    response_types: Sequence[Any] = ()
    permissions: Permissions = field(default_factory=dict)
    portal: PortalExtension | None = None
    overdue: Callable[[], Awaitable[Sequence[Late]]] = _nothing_overdue
