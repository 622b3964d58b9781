"""Reading a page: parse it with its adapter and judge its records, as one piece of work for a reader.

Everything here is pure and may be fed by anybody on the web, so it runs where it can be killed: in a reader process,
or inline where there are none.
"""

import traceback
from collections.abc import Mapping, Sequence

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.pagination import FOLLOWED
from tidemill.core.record import MOST_RECORDS, Found, RawRecord, Reading
from tidemill.core.services.enrichment import EnrichmentRules, ModelAnswer
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted, Dropped, Quarantined, Verdict
from tidemill.core.vertical import Adapter, Context, Vertical
from tidemill.pipeline.checkpoints import Claimed, Fetched, Parsed, Rejected, Verdicts
from tidemill.pipeline.kept_readings import KeptReading, decode_found, keep
from tidemill.pipeline.recovery import judge_with_answer

NORMALIZATION_FAILED = "NORMALIZATION_FAILED"
UNWRITABLE = (UnicodeEncodeError, OverflowError)
"""What encoding raises for half a character, and for numbers that no database holds."""

encode = msgspec.json.Encoder().encode


class PageTask(msgspec.Struct, frozen=True, array_like=True):
    """A page to read, or records to judge again: all that a reader has to know.

    `found` holds the records of a page that was parsed before; then only they are judged. `asks_model` says that
    questions about dropped records are wanted, and `answers` are those that are known, by key.
    """

    vertical: str
    adapter_id: str
    source: Source
    parameters: Mapping[str, str]
    page: Page
    page_number: int = 1
    found: bytes = b""
    asks_model: bool = False
    answers: Mapping[str, ModelAnswer] = {}
    most_records: int = MOST_RECORDS


class ReadPage(msgspec.Struct, frozen=True):
    """A page that was read: its records as they are stored, the verdict on each, and how long a reader took."""

    adapter_id: str
    adapter_version: str
    kept: KeptReading
    verdicts: Verdicts
    seconds: float = 0.0


ReadResult = ReadPage | Fail


def page_to_read(claimed: Claimed, fetched: Fetched, *, asks_model: bool, most_records: int) -> PageTask:
    """Return the task to read a fetched page."""
    job, target = claimed.job, claimed.target
    return PageTask(
        job.vertical,
        target.adapter_id,
        claimed.source,
        target.parameters,
        fetched.page,
        job.page_number,
        asks_model=asks_model,
        most_records=most_records,
    )


def records_to_judge(
    claimed: Claimed, parsed: Parsed, answers: Mapping[str, ModelAnswer], *, asks_model: bool
) -> PageTask:
    """Return the task to judge the records of a page that was parsed before."""
    return PageTask(
        claimed.job.vertical,
        claimed.target.adapter_id,
        claimed.source,
        claimed.target.parameters,
        msgspec.structs.replace(parsed.page, body=b""),
        claimed.job.page_number,
        parsed.found.encoded,
        asks_model,
        answers,
    )


def read_page(task: PageTask, verticals: Mapping[str, Vertical]) -> ReadResult:
    """Return the page's records with their verdicts, or the failure."""
    vertical = verticals.get(task.vertical)
    adapter = None if vertical is None else vertical.adapters.get(task.adapter_id)
    if vertical is None or adapter is None:
        return Fail(Failure.UNKNOWN_ADAPTER, f"no adapter {task.adapter_id!r}")
    try:
        return _read_with(vertical, adapter, task)
    except MemoryError:
        return Fail(Failure.PAGE_TOO_HARD, "reading it takes more memory than a page may")
    except UNWRITABLE as error:
        return unwritable(error)
    except Exception as error:  # noqa: BLE001 - a bug of ours on one page must not cost the others
        return bug_failure(error)


def unwritable(error: Exception) -> Fail:
    """Return the failure of a page whose records cannot be written anywhere."""
    return Fail(Failure.WRITE_FAILED, f"its records cannot be written: {type(error).__name__}: {error}"[:500])


def bug_failure(error: Exception) -> Fail:
    """Return the failure for a bug of ours, with its stack."""
    return Fail(Failure.BUG, f"{type(error).__name__}: {error}"[:500], stack=traceback.format_exc())


def _read_with(vertical: Vertical, adapter: Adapter, task: PageTask) -> ReadResult:
    page = task.page
    context = Context(task.source, page.final_url, page.fetched_at, task.parameters)
    if task.found:
        found: Reading = decode_found(task.found)
    else:
        found = parsed_by(adapter, page, context, task.page_number, task.most_records)
    if isinstance(found, Fail):
        return found
    rules = vertical.enrichment if task.asks_model else None
    verdicts = judge_records(vertical, found.records, context, rules, task.answers)
    kept = keep(found, encoded=b"") if task.found else keep(found)
    return ReadPage(adapter.id, adapter.version, kept, verdicts)


def parsed_by(adapter: Adapter, page: Page, context: Context, page_number: int, most_records: int) -> Reading:
    """Return the adapter's reading; an empty page is told from a broken one, and a flood of records is cut off."""
    match read_with_adapter(adapter, page, context):
        case Found(records=[], declared_empty=False, follow=()):
            answer: Reading = Fail(Failure.LAYOUT_CHANGED, "no records, and the page does not say that it has none")
        case Found(records=[]) as empty:
            answer = msgspec.structs.replace(empty, next_url=None)
        case Found(records=records) as flood if len(records) > most_records:
            note = f"{len(records)} records, of which the first {most_records} were taken"
            answer = msgspec.structs.replace(
                flood, records=records[:most_records], truncated=True, notes=(*flood.notes, note)
            )
        case read_so:
            answer = read_so
    if isinstance(answer, Fail) and answer.failure is Failure.LAYOUT_CHANGED and 1 < page_number < FOLLOWED:
        return end_of_list(answer)
    return answer


def end_of_list(nothing: Fail) -> Found:
    """Return an empty, truncated result for a further page without records: the list has probably ended.

    The same adapter read the page before it in this run, so the layout has not changed; but what
    was not seen must not count as gone.
    """
    return Found(records=(), declared_empty=True, truncated=True, notes=(nothing.detail,))


def read_with_adapter(adapter: Adapter, page: Page, context: Context) -> Reading:
    """Return the adapter's reading of the page; a crash of the adapter is a failure of this page only."""
    try:
        return adapter.read(page, context)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - adapters are other people's code; a crash is this page's failure
        return Fail(Failure.ADAPTER_CRASHED, f"{type(error).__name__}: {error}"[:500], stack=traceback.format_exc())


def judge_records(
    vertical: Vertical,
    records: Sequence[RawRecord],
    context: Context,
    rules: EnrichmentRules | None,
    answers: Mapping[str, ModelAnswer],
) -> Verdicts:
    """Judge every raw record on the page: accept, drop or quarantine it. One bad record does not affect the others."""
    accepted: list[Accepted] = []
    rejected: list[Rejected] = []
    for raw in records:
        verdict, request = judge(vertical, raw, context), None
        if rules is not None and isinstance(verdict, Dropped):
            verdict, request = judge_with_answer(vertical, raw, verdict, context, rules, answers)
        if isinstance(verdict, Accepted):
            accepted.append(Accepted(verdict.identity, verdict.record, encode(verdict.record)))
        else:
            rejected.append(Rejected(raw, verdict, request))
    return Verdicts(accepted, rejected)


def judge(vertical: Vertical, raw: RawRecord, context: Context) -> Verdict:
    """Return the vertical's verdict; a rule that crashes quarantines its record."""
    try:
        return vertical.judge(raw, context)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - one record's crash must not cost its neighbours
        return Quarantined(NORMALIZATION_FAILED, f"{type(error).__name__}: {error}"[:500])
