"""What one poll's page says of its thing, or a list of things: read by its adapter and told by the vertical's rules."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.live.rules import ListReading
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.vertical import Context, Vertical
from tidemill.pipeline.page_reading import read_with_adapter
from tidemill.pipeline.reader_functions.function import ReaderFunction, encode_json


class PolledBody(msgspec.Struct, frozen=True, kw_only=True):
    """A page that was polled, and whether it lists things instead of telling of one."""

    vertical: str
    adapter_id: str
    page: Page
    context: Context
    is_list: bool


class ToldPage(msgspec.Struct, frozen=True):
    """What it says: a list, or the vertical's own value as JSON, which its rules decode. Or why nothing can be told."""

    listed: ListReading | None = None
    thing: msgspec.Raw = msgspec.Raw(b"null")
    failure: Failure | None = None
    detail: str = ""
    stack: str = ""


def _told(asked: PolledBody, verticals: Mapping[str, Vertical]) -> ToldPage:
    told = live_reading(asked, verticals)
    if isinstance(told, Fail):
        return ToldPage(failure=told.failure, detail=told.detail, stack=told.stack)
    if asked.is_list:
        return ToldPage(listed=told)
    return ToldPage(thing=msgspec.Raw(encode_json(told)))


def live_reading(asked: PolledBody, verticals: Mapping[str, Vertical]) -> Any:
    """Return what the page says in the vertical's own value, a list, or a failure."""
    vertical = verticals[asked.vertical]
    adapter, rules = vertical.adapters.get(asked.adapter_id), vertical.live
    if adapter is None or rules is None:
        return Fail(Failure.UNKNOWN_ADAPTER, f"no adapter {asked.adapter_id!r}")
    found = read_with_adapter(adapter, asked.page, asked.context)
    if isinstance(found, Fail):
        return found
    if not found.records and not found.declared_empty:
        return Fail(Failure.LAYOUT_CHANGED, "no records, and the page does not say that it has none")
    return rules.read_list(found, asked.context) if asked.is_list else rules.read_thing(found, asked.context)


TOLD = ReaderFunction("live.told", PolledBody, ToldPage, _told, is_quick=True)
