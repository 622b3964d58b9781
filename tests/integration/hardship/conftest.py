"""A site and an installation for the worst of days."""

from collections.abc import AsyncIterator

import pytest

from rig.site import Site, a_site
from rig.works import Works, the_works


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Six agenda pages with three events each."""
    async with a_site(pages=6) as served:
        yield served


@pytest.fixture
async def works(migrated_url: str) -> AsyncIterator[Works]:
    """An installation on SQLite and on PostgreSQL."""
    async with the_works(migrated_url) as view:
        yield view


@pytest.fixture
async def sqlite_works(migrated_sqlite_url: str) -> AsyncIterator[Works]:
    """An installation on SQLite."""
    async with the_works(migrated_sqlite_url) as view:
        yield view
