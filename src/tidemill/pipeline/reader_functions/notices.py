"""What a page says of a record that may be gone."""

from collections.abc import Mapping

import msgspec

from tidemill.core.page import Page
from tidemill.core.vertical import Vertical
from tidemill.pipeline.reader_functions.function import ReaderFunction


class PageToVerify(msgspec.Struct, frozen=True):
    """The page of a record of this vertical."""

    vertical: str
    page: Page


def _notice(asked: PageToVerify, verticals: Mapping[str, Vertical]) -> str | None:
    read_notice = verticals[asked.vertical].read_notice
    return None if read_notice is None else read_notice(asked.page)


NOTICE = ReaderFunction("record.notice", PageToVerify, str | None, _notice)
"""The removal notice on a page, '' if there is none, None if the page tells nothing."""
