"""Towns to try discovery and enrichment in."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from rig.town import Town, a_town

Begin = Callable[..., Any]


@pytest.fixture
async def town(migrated_sqlite_url: str, tmp_path: Path) -> AsyncIterator[Begin]:
    """Begins a town; settings by name, `agendas` for the search, `think` for the model."""
    async with AsyncExitStack() as stack:

        async def begin(**options: Any) -> Town:
            return await stack.enter_async_context(a_town(migrated_sqlite_url, tmp_path, **options))

        yield begin
