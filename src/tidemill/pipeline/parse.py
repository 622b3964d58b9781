"""Parse: read the page with its adapter, and tell an empty page from a broken one."""

import traceback

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.outcome import Advance, Fail, Outcome, Stage
from tidemill.core.record import Found, Reading
from tidemill.core.vertical import Adapter, Context
from tidemill.pipeline.checkpoints import Claimed, Fetched, Parsed
from tidemill.pipeline.dependencies import StageDependencies


def parse(claimed: Claimed, fetched: Fetched, deps: StageDependencies) -> Outcome:
    """Return the page's raw records, or the failure."""
    adapter = deps.verticals[claimed.job.vertical].adapters.get(claimed.target.adapter_id)
    if adapter is None:
        return Fail(Failure.UNKNOWN_ADAPTER, f"no adapter {claimed.target.adapter_id!r}")
    match read_with_adapter(adapter, claimed, fetched):
        case Found(records=[], declared_empty=False):
            answer: Reading = Fail(Failure.LAYOUT_CHANGED, "no records, and the page does not say that it has none")
        case Found(records=[]) as empty:
            answer = msgspec.structs.replace(empty, next_url=None)
        case read_so:
            answer = read_so
    if isinstance(answer, Fail) and answer.failure is Failure.LAYOUT_CHANGED and claimed.job.page_number > 1:
        answer = end_of_list(answer)
    if isinstance(answer, Fail):
        return answer
    read_page = msgspec.structs.replace(fetched.page, body=b"")  # not read again, and hundreds are in memory
    return Advance(Stage.NORMALIZE, Parsed(read_page, adapter.id, adapter.version, answer))


def end_of_list(nothing: Fail) -> Found:
    """Return an empty, truncated result for a further page without records: the list has probably ended.

    The same adapter read the page before it in this run, so the layout has not changed; but what
    was not seen must not count as gone.
    """
    return Found(records=(), declared_empty=True, truncated=True, notes=(nothing.detail,))


def read_with_adapter(adapter: Adapter, claimed: Claimed, fetched: Fetched) -> Reading:
    """Return the adapter's reading of the page; a crash of the adapter is a failure of this page only."""
    page = fetched.page
    try:
        return adapter.read(page, Context(claimed.source, page.final_url, page.fetched_at, claimed.target.parameters))
    except Exception as error:  # noqa: BLE001 - adapters are other people's code; a crash is this page's failure
        return Fail(Failure.ADAPTER_CRASHED, f"{type(error).__name__}: {error}"[:500], stack=traceback.format_exc())
