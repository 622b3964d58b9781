"""A site whose pages the machines of a cluster read."""

from collections.abc import AsyncIterator

import pytest

from rig.site import Site, a_site


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Six agenda pages with three events each."""
    async with a_site(pages=6) as served:
        yield served
