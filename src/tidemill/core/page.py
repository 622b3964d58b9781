"""A page: a site's response, stored before anything reads it."""

from datetime import datetime

import msgspec


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A stored response.

    `body` is the content after transfer decoding (gzip and the like), still in the site's own character set;
    `digest` is the change-detection hash of `body`. `charset` is what the bytes decode with, browser rules.
    """

    id: int
    url: str
    final_url: str
    status_code: int
    body: bytes
    charset: str
    content_type: str
    digest: int
    fetched_at: datetime
    etag: str = ""
    last_modified: str = ""

    @property
    def text(self) -> str:
        """The body as text; bytes that do not decode become U+FFFD, as in a browser."""
        return self.body.decode(self.charset, errors="replace")
