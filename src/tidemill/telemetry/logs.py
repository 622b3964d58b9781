"""Structured logs: every happening becomes one line with its run, job, source and stage."""

import logging
import sys
from collections.abc import Callable, Mapping, MutableMapping
from datetime import datetime
from enum import Enum
from typing import Any, Literal, TextIO

import msgspec
import structlog
from structlog.typing import FilteringBoundLogger, Processor

from tidemill.core.health.grades import HealthGrade
from tidemill.core.health.recovery import RecoveryOutcome
from tidemill.core.live.lifecycle import Lifecycle
from tidemill.core.run import RunStatus
from tidemill.pipeline.happenings import (
    AdapterDisabled,
    Announce,
    BreakerMoved,
    BrowserRecycled,
    ChangeLogged,
    ChangesCaughtUp,
    ClockJumped,
    ClockSkewed,
    ConflictFound,
    DiscoverySpilled,
    DiskLow,
    DriftNoticed,
    EnqueueRejected,
    ExportDone,
    GradeMoved,
    Happening,
    IncidentEnded,
    IncidentOpened,
    JobDead,
    JobRefused,
    JobsRescued,
    JobsStale,
    JobWaits,
    LeaseLost,
    LifeMoved,
    NoticeSent,
    Overdue,
    PageGot,
    PagePolled,
    PartCrashed,
    PersonNeeded,
    PlaceSearched,
    RecordsJudged,
    RecordsKept,
    RecoveryBegun,
    RecoveryExhausted,
    RecoveryJudged,
    RoundEnded,
    RunClosed,
    RunExtended,
    RunOpened,
    ServiceDegraded,
    ServiceRestored,
    StageDone,
    StoreTrouble,
    TickRan,
    TokenRefused,
    WatchLost,
    WatchPaused,
)
from tidemill.telemetry.redaction import redact_line

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["text", "json"]

LEVELS: dict[str, int] = {
    "debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR,
}  # fmt: skip


MAX_VALUE_LENGTH = 2_000
"""Longer values are cut: a page must not fill the disk by way of the log."""


def make_logger(level: Level = "info", form: Format = "text", stream: TextIO | None = None) -> FilteringBoundLogger:
    """Return a logger that writes one line per call, without secrets, for people (`text`) or machines (`json`)."""
    render: Processor = text_line if form == "text" else structlog.processors.JSONRenderer(default=str)
    processors: list[Processor] = [
        structlog.processors.add_log_level,
        put_time_first,
        structlog.processors.format_exc_info,
        redact_line,
        render,
    ]
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.PrintLogger(stream or sys.stderr),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
    )
    return logger


def log_listener(logger: FilteringBoundLogger, level: Level = "info") -> Announce:
    """Return a listener that logs each happening; those below `level` cost next to nothing."""
    least = LEVELS[level]

    def log(happening: Happening) -> None:
        message, level_rule = LOG_LINES[type(happening)]
        severity = level_rule(happening) if callable(level_rule) else level_rule
        if severity >= least:
            logger.log(severity, message, **fields(happening))

    return log


def fields(happening: Happening) -> dict[str, Any]:
    """Return a happening's fields under the names that every line shares: run, job, source, stage."""
    if isinstance(happening, RunClosed):
        return _run_closed(happening)
    return {
        FIELD_NAMES.get(name, name): value
        for name, value in msgspec.structs.asdict(happening).items()
        if value is not None
    }


def _run_closed(happening: RunClosed) -> dict[str, Any]:
    summary = msgspec.structs.asdict(happening.summary)
    counts = msgspec.structs.asdict(happening.summary.counts)
    took = happening.summary.completed_at - happening.summary.started_at
    left_out = {"counts", "started_at", "completed_at"}
    named = {FIELD_NAMES.get(name, name): value for name, value in summary.items() if name not in left_out}
    return {
        "at": happening.at,
        **{name: value for name, value in named.items() if value not in ((), None)},
        "seconds": round(took.total_seconds(), 3),
        **{name: count for name, count in counts.items() if count},
    }


FIELD_NAMES = {"job_id": "job", "run_id": "run", "source_id": "source", "worker_id": "worker"}

DEBUG, INFO, WARNING, ERROR = LEVELS.values()


def _run_level(happening: RunClosed) -> int:
    return INFO if happening.summary.status is RunStatus.SUCCESS else WARNING


def _breaker_level(happening: BreakerMoved) -> int:
    return WARNING if happening.after == "OPEN" else INFO


def _tick_level(happening: TickRan) -> int:
    return DEBUG if happening.status == "ok" else ERROR


def _rescue_level(happening: JobsRescued) -> int:
    return WARNING if happening.jobs else INFO


def _drift_level(happening: DriftNoticed) -> int:
    return INFO if happening.is_over else WARNING


def _grade_level(happening: GradeMoved) -> int:
    levels = {HealthGrade.HEALTHY: INFO, HealthGrade.FAILING: ERROR}
    return levels.get(happening.after, WARNING)


def _recovery_level(happening: RecoveryJudged) -> int:
    return INFO if happening.outcome is RecoveryOutcome.SUCCESS else WARNING


def _life_level(happening: LifeMoved) -> int:
    return WARNING if happening.after == Lifecycle.PAUSED else INFO


LevelRule = int | Callable[[Any], int]


def _notice_level(happening: NoticeSent) -> int:
    return WARNING if happening.error else INFO


LOG_LINES: Mapping[type, tuple[str, LevelRule]] = {
    StageDone:       ("stage done",       DEBUG),
    PageGot:         ("page got",         DEBUG),
    JobWaits:        ("job waits",        DEBUG),
    JobRefused:      ("job refused",      DEBUG),
    JobDead:         ("dead letter",      WARNING),
    PersonNeeded:    ("person needed",    ERROR),
    LeaseLost:       ("lease lost",       WARNING),
    BreakerMoved:    ("breaker moved",    _breaker_level),
    RecordsJudged:   ("records judged",   DEBUG),
    RecordsKept:     ("records kept",     DEBUG),
    RunOpened:       ("run opened",       INFO),
    RunExtended:     ("run extended",     DEBUG),
    RunClosed:       ("run closed",       _run_level),
    DriftNoticed:    ("drift noticed",    _drift_level),
    AdapterDisabled: ("adapter disabled", ERROR),
    EnqueueRejected: ("enqueue rejected", WARNING),
    TickRan:         ("tick ran",         _tick_level),
    JobsRescued:     ("jobs rescued",     _rescue_level),
    JobsStale:       ("jobs stale",       WARNING),
    StoreTrouble:    ("store trouble",    ERROR),
    ClockJumped:     ("clock jumped",     WARNING),
    PartCrashed:     ("part crashed",     ERROR),
    Overdue:         ("overdue",          ERROR),
    ServiceDegraded: ("service degraded", WARNING),
    ServiceRestored: ("service restored", INFO),
    PlaceSearched:   ("place searched",   INFO),
    DiscoverySpilled: ("discovery spilled", ERROR),
    GradeMoved:      ("grade moved",      _grade_level),
    RecoveryBegun:   ("recovery begun",   WARNING),
    RecoveryJudged:  ("recovery judged",  _recovery_level),
    RecoveryExhausted: ("recovery exhausted", ERROR),
    PagePolled:      ("page polled",      DEBUG),
    ChangeLogged:    ("change logged",    DEBUG),
    LifeMoved:       ("life moved",       _life_level),
    WatchLost:       ("watch lost",       WARNING),
    BrowserRecycled: ("browser recycled", INFO),
    WatchPaused:     ("watch paused",     WARNING),
    ChangesCaughtUp: ("changes caught up", WARNING),
    ConflictFound:   ("conflict found",   INFO),
    TokenRefused:    ("token refused",    WARNING),
    ExportDone:      ("export done",      INFO),
    DiskLow:         ("disk low",         ERROR),
    ClockSkewed:     ("clock skewed",     ERROR),
    IncidentOpened:  ("incident opened",  ERROR),
    IncidentEnded:   ("incident over",    INFO),
    RoundEnded:      ("round ended",      INFO),
    NoticeSent:      ("notice sent",      _notice_level),
}  # fmt: skip
"""Each happening's event name in the log, and its level."""


def put_time_first(_logger: Any, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Put the happening's own time first, and convert values so that both formats can show them."""
    at = line.pop("at", None)
    plain = {name: _loggable(value) for name, value in line.items()}
    return {"at": _loggable(at), **plain} if at is not None else plain


def _loggable(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case datetime():
            return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case str() if len(value) > MAX_VALUE_LENGTH:
            return value[:MAX_VALUE_LENGTH] + "…"
        case _:
            return value


def text_line(_logger: Any, _method: str, line: MutableMapping[str, Any]) -> str:
    """Format a line for people: time, level, event, then name=value.

    Scraped text can hold line breaks and terminal codes; whatever is not plain is quoted and escaped, so that no
    page can write a line of its own into the log.
    """
    head = [str(line.pop(name)) for name in ("at",) if name in line]
    level, message, stack = line.pop("level", ""), line.pop("event", ""), line.pop("exception", "")
    head += [f"{level:<7}", _escaped(message, " ")]
    rest = [f"{name}={_escaped(value)}" for name, value in line.items()]
    return "  ".join([*head, " ".join(rest)]).rstrip() + (f"\n{stack}" if stack else "")


def _escaped(value: Any, allowed: str = "") -> str:
    text = value if isinstance(value, str) else str(value)
    safe = text.isprintable() and not set(text) & (set(' "=') - set(allowed))
    return text if safe and text else ascii(text) if not text.isprintable() else repr(text)
