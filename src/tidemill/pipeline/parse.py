"""Parse: the page's raw records, or the failure; a reader has done the reading."""

from collections.abc import Mapping

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.outcome import Advance, Fail, Outcome, Stage
from tidemill.core.replay.reading_version import ReadingVersion, reading_version
from tidemill.core.vertical import Vertical, installed_version
from tidemill.pipeline.checkpoints import Claimed, Fetched, Parsed
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.page_reading import ReadResult, page_to_read, read_page


def parse(claimed: Claimed, fetched: Fetched, deps: StageDependencies) -> Outcome:
    """Read the page inline and return its raw records, or the failure."""
    task = page_to_read(claimed, fetched, asks_model=deps.asks_model, most_records=deps.most_records)
    return parse_outcome(fetched, read_page(task, deps.verticals))


def parse_outcome(fetched: Fetched, result: ReadResult) -> Outcome:
    """Return the outcome of parsing a page that was read; the verdicts on its records travel with it."""
    if isinstance(result, Fail):
        return result
    read_page_only = msgspec.structs.replace(fetched.page, body=b"")  # not read again, and hundreds are in memory
    parsed = Parsed(
        read_page_only, result.adapter_id, result.adapter_version, result.kept, result.verdicts, result.seconds
    )
    return Advance(Stage.NORMALIZE, parsed)


def held_reading(claimed: Claimed, verticals: Mapping[str, Vertical]) -> Fail | None:
    """Return why the page is stored and not read: the version of its adapter has not been accepted yet.

    Other code under the same version may read until its replay shows that it alters too much.
    """
    vertical, name = verticals[claimed.job.vertical], claimed.target.adapter_id
    adapter = vertical.adapters.get(name)
    if adapter is None or not claimed.accepted_version or adapter.version == claimed.accepted_version:
        return None
    accepted = reading_version(claimed.accepted_version)
    installed = installed_version(vertical, name) if accepted.exact else ReadingVersion(adapter.version)
    if installed is None or accepted.admits(installed):
        return None
    what = f"other code of version {adapter.version}" if accepted.exact else f"version {adapter.version}"
    words = (
        f"{what} of {adapter.id} is held at the gate, {accepted.version} was accepted; "
        "`tidemill replays list` shows the report that waits for a person"
    )
    return Fail(Failure.CHANGE_HELD, words)
