"""The adapter for what a scraping actor returns: a page of JSON items."""

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, Reading
from tidemill.core.vertical import Context
from tidemill.verticals.listings.reading.dataset import NotADataset, read_dataset


class Dataset:
    """Reads the dataset of an Apify actor that lists homes.

    An item of unknown shape is set aside for a person, one by one; nothing is guessed. As many items as the
    market's `max_listings` allow means that there may be more: the run is then not complete.
    """

    id = "listings.dataset"
    version = "1.1.0"
    domain = "*"
    needs_browser = False

    def read(self, page: Page, context: Context) -> Reading:
        """The items as raw records, or the reason why there are none."""
        try:
            records = read_dataset(page.body, context.source.base_url)
        except NotADataset as error:
            return Fail(Failure.LAYOUT_CHANGED, f"the dataset could not be read: {error}")
        most = context.parameters.get("max_listings", "")
        capped = most.isdigit() and 0 < int(most) <= len(records)
        return Found(records=records, declared_empty=not records, truncated=capped)
