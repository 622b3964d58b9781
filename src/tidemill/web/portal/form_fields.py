"""Days in a form, where an empty field means any."""

from datetime import date
from typing import Annotated, Any

from fastapi import Query
from pydantic import BeforeValidator


def _none_if_empty(value: Any) -> Any:
    return None if value == "" else value


EmptyOrDay = Annotated[date | None, BeforeValidator(_none_if_empty), Query()]
