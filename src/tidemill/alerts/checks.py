"""The checks behind alerts that no query of the store answers: ticks, queues, disks, grades, files, lists."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from tidemill.alerts.ports import FindTroubles
from tidemill.core.admission import Backoffs, remaining_pause
from tidemill.core.alerts.incidents import Trouble, adapter_cause
from tidemill.core.alerts.table import ALERTS, AlertName, CauseKind
from tidemill.core.health.grades import Grading, HealthGrade
from tidemill.core.health.overdue import TICK, overdue_sentence
from tidemill.core.schedules import format_duration
from tidemill.pipeline.happenings import Announce, ClockSkewed, DiskLow

OURSELVES = CauseKind.OURSELVES.value
NO_SPACE = 100_000_000
"""Bytes; with less, a disk counts as full however large it is."""
LOOP_LASTS = timedelta(hours=1)


class DiskSpace(msgspec.Struct, frozen=True):
    """A disk's size and what is free of it, in bytes."""

    total: int
    free: int


def measure_disk(folder: Path) -> DiskSpace:
    """Return the space on the disk of a folder, or of the nearest one above it that exists."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    usage = shutil.disk_usage(there)
    return DiskSpace(usage.total, usage.free)


def silent_ticks(overdue: Callable[[], Awaitable[Sequence[tuple[str, str]]]]) -> FindTroubles:
    """Return the check for periodic work that has not gone well for three of its periods."""

    async def find(_now: datetime) -> list[Trouble]:
        return [
            Trouble(
                alert=AlertName.TICK_SILENT, cause=OURSELVES, subject=name, detail=overdue_sentence(TICK + name, words)
            )
            for name, words in await overdue()
        ]

    return find


def full_queues(backoffs: Callable[[], Awaitable[Backoffs]]) -> FindTroubles:
    """Return the check for queues that turn targets away, and for adapters that wait long because of it."""

    async def find(now: datetime) -> list[Trouble]:
        found = []
        for adapter, backoff in sorted((await backoffs()).items()):
            left = remaining_pause(backoff, now)
            if backoff.cycles >= (ALERTS[AlertName.QUEUE_REJECTIONS].limit or 0):
                words = f"targets of {adapter} were turned away {backoff.cycles} rounds in a row: its queue is full"
                found.append(Trouble(alert=AlertName.QUEUE_REJECTIONS, cause=OURSELVES, subject=adapter, detail=words))
            if left > timedelta(minutes=ALERTS[AlertName.LONG_BACKOFF].limit or 0):
                words = f"the scheduling of {adapter} is paused for {format_duration(left)} more"
                found.append(
                    Trouble(alert=AlertName.LONG_BACKOFF, cause=adapter_cause(adapter), subject=adapter, detail=words)
                )
        return found

    return find


def full_disks(folders: Sequence[Path], measure: Callable[[Path], DiskSpace], announce: Announce) -> FindTroubles:
    """Return the check for disks with little space; it announces each when it begins."""
    low: set[Path] = set()

    async def find(now: datetime) -> list[Trouble]:
        found = []
        for folder in folders:
            space = measure(folder)
            share = space.free / space.total if space.total else 0.0
            is_full = share < (ALERTS[AlertName.DISK_FULL].limit or 0) or space.free < NO_SPACE
            if not is_full and share >= (ALERTS[AlertName.DISK_LOW].limit or 0):
                low.discard(folder)
                continue
            if folder not in low:
                low.add(folder)
                announce(DiskLow(now, str(folder), space.free, round(share, 4)))
            words = f"{space.free / 1e9:.2f} GB ({share:.1%}) free on the disk of {folder}"
            alert = AlertName.DISK_FULL if is_full else AlertName.DISK_LOW
            found.append(Trouble(alert=alert, cause=OURSELVES, subject=str(folder), detail=words))
        return found

    return find


def wrong_clocks(skewed: Callable[[datetime], Awaitable[Sequence[Trouble]]], announce: Announce) -> FindTroubles:
    """Return the check for clocks that differ; it announces each when it begins."""
    known: set[str] = set()

    async def find(now: datetime) -> list[Trouble]:
        found = list(await skewed(now))
        for each in found:
            if each.subject not in known:
                announce(ClockSkewed(now, each.subject, each.detail))
        known.clear()
        known.update(each.subject for each in found)
        return found

    return find


def live_grade(grading: Callable[[], Awaitable[Grading | None]]) -> FindTroubles:
    """Return the check for the grade of live polling; while it recovers, it counts as failing still."""

    async def find(now: datetime) -> list[Trouble]:
        now_graded = await grading()
        if now_graded is None:
            return []
        words = f"live polling is {now_graded.grade.value} since {now_graded.since:%Y-%m-%d %H:%M} UTC"
        found = []
        if now_graded.grade in {HealthGrade.FAILING, HealthGrade.RECOVERING}:
            found.append(Trouble(alert=AlertName.GRADE_FAILING, cause=OURSELVES, detail=words))
        if now_graded.grade is HealthGrade.DEGRADED:
            found.append(Trouble(alert=AlertName.GRADE_DEGRADED, cause=OURSELVES, detail=words))
        called = now_graded.person_called_at
        if called is not None and now_graded.grade is not HealthGrade.HEALTHY and now - called <= LOOP_LASTS:
            loop = "five recoveries within an hour did not help"
            found.append(Trouble(alert=AlertName.RECOVERY_LOOP, cause=OURSELVES, detail=f"{loop}; {words}"))
        return found

    return find


def spilled_files(folder: Path, pattern: str) -> FindTroubles:
    """Return the check for results of discovery that lie in a file."""

    async def find(_now: datetime) -> list[Trouble]:
        files = await asyncio.to_thread(files_like, folder, pattern)
        return [
            Trouble(
                alert=AlertName.DISCOVERY_SPILLED, cause=CauseKind.DATABASE, subject=file.name,
                detail=f"results of discovery lie in {file}; import them with `tidemill discover import {file}`",
            )
            for file in files
        ]  # fmt: skip

    return find


def files_like(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder that match a pattern."""
    return sorted(folder.glob(pattern)) if folder.is_dir() else []


def overdue_scopes(lists: Sequence[Callable[[], Awaitable[Sequence[tuple[str, str]]]]]) -> FindTroubles:
    """Return the check for lists that are read as a whole and were not read in time."""

    async def find(_now: datetime) -> list[Trouble]:
        return [
            Trouble(alert=AlertName.SCOPE_OVERDUE, cause=f"{CauseKind.SCOPE} {name}", subject=name, detail=words)
            for each in lists
            for name, words in await each()
        ]

    return find
