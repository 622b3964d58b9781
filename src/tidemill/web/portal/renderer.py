"""Fills the templates of the generic pages and of the verticals."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from tidemill.core.access.roles import Role
from tidemill.web.auth.gate import CURRENT_CALLER
from tidemill.web.deps import WebDeps
from tidemill.web.extension import NavigationLink, WebExtension
from tidemill.web.portal.filters import FILTERS

TEMPLATES = Path(__file__).parent.parent / "templates"


class PageRenderer:
    """Renders templates; every value is escaped, because much of it was scraped."""

    def __init__(self, deps: WebDeps, extensions: Sequence[WebExtension]) -> None:
        """Find templates here, and those of a vertical under its name."""
        self._deps = deps
        self._navigation = navigation(extensions)
        self._menu = menu(extensions)
        self._templates = Environment(
            loader=loader(extensions), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self._templates.filters.update(FILTERS)
        for extension in extensions:
            if extension.portal is not None:
                self._templates.filters.update(extension.portal.filters)

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return the page that a template makes of the values."""
        page = self._templates.get_template(template)
        caller = CURRENT_CALLER.get()
        common = {
            "now": self._deps.clock.now(),
            "version": self._deps.version,
            "navigation": self._navigation,
            "more_pages": self._menu,
            "caller": caller,
            "csrf": "" if caller is None else caller.csrf,
            "may_act": caller is not None and caller.role.includes(Role.OPERATOR),
            "is_admin": caller is not None and caller.role.includes(Role.ADMIN),
        }
        return HTMLResponse(page.render(**common, **values), status)


def navigation(extensions: Sequence[WebExtension]) -> list[NavigationLink]:
    """Return the entries of the navigation: the records of the verticals stand between the generic pages."""
    own = [link for extension in extensions if extension.portal for link in extension.portal.navigation]
    return [
        NavigationLink("Overview", "/"),
        NavigationLink("Today's work", "/work"),
        NavigationLink("Sources", "/sources"),
        *own,
    ]


def menu(extensions: Sequence[WebExtension]) -> list[tuple[str, Sequence[NavigationLink]]]:
    """Return what stands under `More`: our pages by heading, those of the verticals with the data."""
    own = [link for extension in extensions if extension.portal for link in extension.portal.more]
    return [(heading, [*links, *own] if heading == "Data" else links) for heading, links in MORE]


MORE: Sequence[tuple[str, Sequence[NavigationLink]]] = [
    ("Scraping", [
        NavigationLink("Targets", "/targets"), NavigationLink("Runs", "/runs"),
        NavigationLink("Stored pages", "/pages"), NavigationLink("Adapters", "/adapters"),
        NavigationLink("Breakers", "/breakers"), NavigationLink("Periodic work", "/ticks"),
        NavigationLink("Replays", "/replays"),
    ]),
    ("To decide", [
        NavigationLink("Dead letters", "/dead-letters"), NavigationLink("Quarantine", "/quarantine"),
        NavigationLink("Proposed selectors", "/proposals"), NavigationLink("Discovery", "/candidates"),
        NavigationLink("Incidents", "/incidents"), NavigationLink("Alerts", "/alerts"),
        NavigationLink("Objectives", "/objectives"),
        NavigationLink("Why?", "/why"),
    ]),
    ("Data", [
        NavigationLink("Exports", "/exports"), NavigationLink("Webhooks", "/webhooks"),
    ]),
    ("System", [
        NavigationLink("Health", "/system"), NavigationLink("Settings", "/settings"),
        NavigationLink("People and tokens", "/people"), NavigationLink("Audit log", "/audit"),
        NavigationLink("The API", "/api-guide"),
    ]),
]  # fmt: skip
"""What stands under `More`, by heading; a new page for operators gets its line here."""


def loader(extensions: Sequence[WebExtension]) -> BaseLoader:
    """Return where templates are found: ours by their own name, a vertical's as `VERTICAL/NAME`."""
    own: dict[str, BaseLoader] = {
        extension.vertical: FileSystemLoader(extension.portal.templates)
        for extension in extensions
        if extension.portal is not None
    }
    return ChoiceLoader([FileSystemLoader(TEMPLATES), PrefixLoader(own)])
