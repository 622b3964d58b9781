"""Unknown names and values in a request are refused with the nearest known one, on every route alike."""

import re
from collections.abc import Iterator

import aiohttp
import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel

from integration.web.conftest import Browser, browsing, deps_of
from tidemill.bootstrap.system import System
from tidemill.bootstrap.web import web_extensions
from tidemill.settings import HostPace
from tidemill.web.app import create_app
from tidemill.web.deps import WebDeps
from tidemill.web.strict_input import RequestBody, known_parameters


def routes(system: System, deps: WebDeps) -> Iterator[APIRoute]:
    """Every route of the app, also those of routers that the framework keeps as they are."""
    waiting = list(create_app(deps, web_extensions(system, deps)).routes)
    while waiting:
        route = waiting.pop()
        if isinstance(route, APIRoute):
            yield route
        else:
            waiting += list(getattr(getattr(route, "original_router", None), "routes", ()))


def filled(path: str) -> str:
    """An address of a route, with something in place of each parameter."""
    return re.sub(r"{[^}]*}", "1", path)


async def test_an_unknown_query_parameter_is_refused_on_every_route(sqlite_system: System) -> None:
    deps = deps_of(sqlite_system)
    found = list(routes(sqlite_system, deps))
    assert len(found) > 30
    async with aiohttp.ClientSession() as session:
        async for browser in browsing(sqlite_system, deps):
            for route in found:
                url = f"{browser.address}{filled(route.path)}?categroy=music"
                for method in sorted((route.methods or set()) & {"GET", "POST", "PUT", "DELETE"}):
                    async with session.request(method, url, json={}) as response:
                        said = await response.json()
                        assert response.status == 422, (method, url)
                        assert "unknown parameter 'categroy'" in said["detail"]
                        for known in known_parameters(route):
                            assert known in said["detail"]


def test_every_body_refuses_fields_that_it_does_not_have() -> None:
    def below(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
        for each in kind.__subclasses__():
            yield each
            yield from below(each)

    loose = [
        each
        for each in below(BaseModel)
        if each.__module__.startswith("tidemill.") and not issubclass(each, RequestBody)
        if each.model_config.get("extra") != "forbid"
    ]
    assert loose == []
    assert HostPace.model_config["extra"] == "forbid"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/api/v1/events?categroy=music", "unknown parameter 'categroy'; did you mean 'category'?"),
        ("/api/v1/events?category=musik", "unknown category 'musik'; did you mean 'music'?"),
        ("/api/v1/runs?status=nope", "status: unknown value 'nope'; there is FAILED, PARTIAL"),
        ("/api/v1/runs?status=success", "did you mean 'SUCCESS'?"),
        ("/api/v1/runs?limit=-1", "limit: "),
        ("/api/v1/sources?vertical=evnts", "unknown vertical 'evnts'; did you mean 'events'?"),
        ("/api/v1/quarantine?vertical=evnts", "did you mean 'events'?"),
        ("/api/v1/targets?status=ACTIV", "did you mean 'ACTIVE'?"),
        ("/health?verbose=1", "this address takes none"),
    ],
)
async def test_unknown_names_and_values_in_queries_are_refused(path: str, words: str, sqlite_browser: Browser) -> None:
    answer = await sqlite_browser.get(path)
    assert answer.status == 422
    assert words in answer.error["detail"]


async def test_an_unknown_field_of_a_body_is_refused_with_the_nearest(sqlite_browser: Browser) -> None:
    body = {"source": "a", "url": "https://a.example", "scheduel": "@daily"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{sqlite_browser.address}/api/v1/targets", json=body) as response,
    ):
        assert response.status == 422
        assert (await response.json())["detail"] == "unknown field 'scheduel'; did you mean 'schedule'?"
