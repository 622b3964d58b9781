"""Days in a form, where an empty field means any."""

from datetime import date
from typing import Annotated, Any

from fastapi import Query
from pydantic import BeforeValidator


def none_if_empty(value: Any) -> Any:
    """Return None for an empty field of a form, which means any."""
    return None if value == "" else value


EmptyOrDay = Annotated[date | None, BeforeValidator(none_if_empty), Query()]
