"""Unknown names in a request are errors, on every route alike: query parameters, and the fields of bodies."""

from collections.abc import Iterator
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, model_validator
from starlette.requests import Request

from tidemill.core.checks.suggestions import unknown_name
from tidemill.web.responses import BadParameter


class RequestBody(BaseModel):
    """The body of a request; a field that it does not have is refused, with the nearest that it has."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, value: Any) -> Any:
        if isinstance(value, dict):
            known = {field.alias or name for name, field in cls.model_fields.items()}
            for name in value:
                if name not in known:
                    raise ValueError(unknown_name("field", str(name), known))
        return value


async def refuse_unknown_parameters(request: Request) -> None:
    """Raise `BadParameter` for a query parameter that the route does not take; a dependency of the whole app."""
    if not request.query_params:
        return
    route = request.scope.get("route")
    known = known_parameters(route) if isinstance(route, APIRoute) else frozenset()
    for name in request.query_params:
        if name not in known:
            raise BadParameter(_unknown(name, known))


def known_parameters(route: APIRoute) -> frozenset[str]:
    """Return the names of the query parameters that a route takes, its dependencies included."""
    return frozenset(_query_names(route.dependant))


def _query_names(dependant: Dependant) -> Iterator[str]:
    for field in dependant.query_params:
        yield field.alias
    for below in dependant.dependencies:
        yield from _query_names(below)


def _unknown(name: str, known: frozenset[str]) -> str:
    if not known:
        return f"unknown parameter {name[:80]!r}; this address takes none"
    hint = unknown_name("parameter", name, known)
    named = ", ".join(sorted(known))
    return hint if named in hint else f"{hint}{'' if hint.endswith('?') else '.'} It takes {named}."
