"""Who opts into a browser: the source, or an adapter that cannot do without."""

import pytest

from tidemill.core.source import FetcherKind, Source
from tidemill.core.vertical import fetcher_for
from tidemill.verticals.events.definition import EVENTS

pytestmark = pytest.mark.shows("F2")

PLAIN = next(iter(EVENTS.adapters.values()))


class Scripted:
    """An adapter for pages that are empty without JavaScript."""

    id, version, domain, needs_browser = "scripted", "1.0.0", "*", True
    read = PLAIN.read


@pytest.mark.parametrize(
    ("fetcher", "adapter", "expected"),
    [
        (FetcherKind.HTTP, PLAIN, FetcherKind.HTTP),
        (FetcherKind.HTTP, Scripted(), FetcherKind.BROWSER),
        (FetcherKind.BROWSER, PLAIN, FetcherKind.BROWSER),
        (FetcherKind.SCRAPINGBEE, Scripted(), FetcherKind.SCRAPINGBEE),
        (FetcherKind.HTTP, None, FetcherKind.HTTP),
    ],
)
def test_a_browser_is_used_when_the_source_says_so_or_its_adapter_cannot_do_without(fetcher, adapter, expected):
    source = Source(id=1, name="a", vertical="events", base_url="https://a.example", adapter_id="x", fetcher=fetcher)
    assert fetcher_for(source, adapter) is expected
