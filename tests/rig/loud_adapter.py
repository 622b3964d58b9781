"""An adapter that fails and quotes everything it was given, as careless code does."""

from tidemill.core.page import Page
from tidemill.core.record import Reading
from tidemill.core.vertical import Context

NAME = "adapter:rig.loud_adapter:LoudAdapter"


class LoudAdapter:
    """Raises for every page."""

    id = NAME
    version = "1.0.0"
    domain = "*"
    needs_browser = False

    def read(self, page: Page, context: Context) -> Reading:
        """Fail, with the page's address, its words and a password in the message."""
        words = page.body.decode()
        msg = f"cannot read {page.final_url} of {context.source.headers}: password=3rr0rs3cr3t; {words}"
        raise RuntimeError(msg)
