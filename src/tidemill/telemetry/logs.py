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

from tidemill.core.run import RunStatus
from tidemill.pipeline.happenings import (
    AdapterDisabled,
    Announce,
    BreakerMoved,
    ClockJumped,
    DiscoverySpilled,
    DriftNoticed,
    EnqueueRejected,
    Happening,
    JobDead,
    JobRefused,
    JobsRescued,
    JobWaits,
    LeaseLost,
    Overdue,
    PageGot,
    PartCrashed,
    PersonNeeded,
    PlaceSearched,
    RecordsKept,
    RunClosed,
    RunOpened,
    ServiceDegraded,
    ServiceRestored,
    StageDone,
    StoreTrouble,
    TickRan,
)
from tidemill.telemetry.redaction import redact

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["text", "json"]

RANKS: dict[str, int] = {
    "debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR,
}  # fmt: skip


LONGEST = 2_000
"""A value is cut there: a page must not fill the disk by way of the log."""


def make_logger(level: Level = "info", form: Format = "text", stream: TextIO | None = None) -> FilteringBoundLogger:
    """A logger that writes one line per call, without secrets, for people (`text`) or machines (`json`)."""
    render: Processor = one_line if form == "text" else structlog.processors.JSONRenderer(default=str)
    processors: list[Processor] = [
        structlog.processors.add_log_level,
        stamp,
        structlog.processors.format_exc_info,
        redact,
        render,
    ]
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.PrintLogger(stream or sys.stderr),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(RANKS[level]),
    )
    return logger


def log_to(logger: FilteringBoundLogger, level: Level = "info") -> Announce:
    """A listener that writes each happening down; what is below `level` costs next to nothing."""
    least = RANKS[level]

    def log(happening: Happening) -> None:
        words, weight = LINES[type(happening)]
        rank = weight(happening) if callable(weight) else weight
        if rank >= least:
            logger.log(rank, words, **fields(happening))

    return log


def fields(happening: Happening) -> dict[str, Any]:
    """A happening's facts under the names that every line shares: run, job, source, stage."""
    if isinstance(happening, RunClosed):
        return _run_closed(happening)
    return {
        RENAMED.get(name, name): value for name, value in msgspec.structs.asdict(happening).items() if value is not None
    }


def _run_closed(happening: RunClosed) -> dict[str, Any]:
    summary = msgspec.structs.asdict(happening.summary)
    counts = msgspec.structs.asdict(happening.summary.counts)
    took = happening.summary.completed_at - happening.summary.started_at
    left_out = {"counts", "started_at", "completed_at"}
    named = {RENAMED.get(name, name): value for name, value in summary.items() if name not in left_out}
    return {
        "at": happening.at,
        **{name: value for name, value in named.items() if value not in ((), None)},
        "seconds": round(took.total_seconds(), 3),
        **{name: count for name, count in counts.items() if count},
    }


RENAMED = {"job_id": "job", "run_id": "run", "source_id": "source", "worker_id": "worker"}

DEBUG, INFO, WARNING, ERROR = RANKS.values()


def _run_weight(happening: RunClosed) -> int:
    return INFO if happening.summary.status is RunStatus.SUCCESS else WARNING


def _breaker_weight(happening: BreakerMoved) -> int:
    return WARNING if happening.after == "OPEN" else INFO


def _tick_weight(happening: TickRan) -> int:
    return DEBUG if happening.status == "ok" else ERROR


def _rescue_weight(happening: JobsRescued) -> int:
    return WARNING if happening.jobs else INFO


def _drift_weight(happening: DriftNoticed) -> int:
    return INFO if happening.is_over else WARNING


Weight = int | Callable[[Any], int]

LINES: Mapping[type, tuple[str, Weight]] = {
    StageDone:       ("stage done",       DEBUG),
    PageGot:         ("page got",         DEBUG),
    JobWaits:        ("job waits",        DEBUG),
    JobRefused:      ("job refused",      DEBUG),
    JobDead:         ("dead letter",      WARNING),
    PersonNeeded:    ("person needed",    ERROR),
    LeaseLost:       ("lease lost",       WARNING),
    BreakerMoved:    ("breaker moved",    _breaker_weight),
    RecordsKept:     ("records kept",     DEBUG),
    RunOpened:       ("run opened",       INFO),
    RunClosed:       ("run closed",       _run_weight),
    DriftNoticed:    ("drift noticed",    _drift_weight),
    AdapterDisabled: ("adapter disabled", ERROR),
    EnqueueRejected: ("enqueue rejected", WARNING),
    TickRan:         ("tick ran",         _tick_weight),
    JobsRescued:     ("jobs rescued",     _rescue_weight),
    StoreTrouble:    ("store trouble",    ERROR),
    ClockJumped:     ("clock jumped",     WARNING),
    PartCrashed:     ("part crashed",     ERROR),
    Overdue:         ("overdue",          ERROR),
    ServiceDegraded: ("service degraded", WARNING),
    ServiceRestored: ("service restored", INFO),
    PlaceSearched:   ("place searched",   INFO),
    DiscoverySpilled: ("discovery spilled", ERROR),
}  # fmt: skip
"""What each happening is called in the log, and how much it weighs."""


def stamp(_logger: Any, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Put the happening's own moment first, and write values so that both formats can show them."""
    at = line.pop("at", None)
    plain = {name: _plain(value) for name, value in line.items()}
    return {"at": _plain(at), **plain} if at is not None else plain


def _plain(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case datetime():
            return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case str() if len(value) > LONGEST:
            return value[:LONGEST] + "…"
        case _:
            return value


def one_line(_logger: Any, _method: str, line: MutableMapping[str, Any]) -> str:
    """A line for people: moment, level, words, then name=value.

    Scraped text can hold line breaks and terminal codes; whatever is not plain is quoted and escaped, so that no
    page can write a line of its own into the log.
    """
    head = [str(line.pop(name)) for name in ("at",) if name in line]
    level, words, stack = line.pop("level", ""), line.pop("event", ""), line.pop("exception", "")
    head += [f"{level:<7}", _shown(words, " ")]
    rest = [f"{name}={_shown(value)}" for name, value in line.items()]
    return "  ".join([*head, " ".join(rest)]).rstrip() + (f"\n{stack}" if stack else "")


def _shown(value: Any, allowed: str = "") -> str:
    text = value if isinstance(value, str) else str(value)
    safe = text.isprintable() and not set(text) & (set(' "=') - set(allowed))
    return text if safe and text else ascii(text) if not text.isprintable() else repr(text)
