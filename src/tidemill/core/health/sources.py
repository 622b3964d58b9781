"""How a source stands: one rule for the home page, its own page, `why`, `/health`, `doctor` and `sources list`."""

from datetime import datetime
from enum import StrEnum

import msgspec

from tidemill.core.run import RunStatus

FAILED_SHARE = 0.5
"""A run of which more than this share of pages failed makes a source failing."""


class SourceStanding(StrEnum):
    """What a source is, in one word; only `well` is well."""

    WELL = "well"
    NEW = "new"
    OFF = "off"
    HELD_BACK = "held back"
    FAILING = "failing"
    BARREN = "yields nothing"
    EMPTY = "empty"


TROUBLED = frozenset({SourceStanding.FAILING, SourceStanding.BARREN})
"""Sources that are asked and do not give what they should: they worry the system as a whole."""


class LastRun(msgspec.Struct, frozen=True, kw_only=True):
    """The latest run of a source that has ended; `yielded` counts records, also those on unchanged pages."""

    status: str
    attempted: int
    failed: int
    yielded: int
    set_aside: int
    complete: bool


class SourceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a source's standing is decided by.

    `targets_read` are the targets that are on and whose adapter is on too; `targets_barred` those that are on, and
    that a person marked as not allowed by robots.txt. `needs_approval` tells whether nobody
    approved terms that have to be; `installed` whether some package brings its vertical.
    """

    enabled: bool
    auto_disabled: bool = False
    installed: bool = True
    robots_compliant: bool = True
    needs_approval: bool = False
    breaker_state: str = "CLOSED"
    cooldown_until: datetime | None = None
    targets: int = 0
    targets_on: int = 0
    targets_read: int = 0
    targets_barred: int = 0
    targets_broken: int = 0
    adapter_id: str = ""
    records: int = 0
    letters: int = 0
    last_run: LastRun | None = None


def source_standing(facts: SourceFacts, now: datetime) -> tuple[SourceStanding, str]:
    """Return how a source stands, and why; the reason is '' only where there is nothing to say."""
    if reason := _reason_off(facts):
        return SourceStanding.OFF, reason
    if reason := _reason_held_back(facts, now):
        return SourceStanding.HELD_BACK, reason
    if facts.breaker_state != "CLOSED":
        return SourceStanding.FAILING, "its breaker is not closed: one probe at a time may go, and its answer decides"
    if facts.last_run is None:
        return SourceStanding.NEW, "no run of it has ended yet"
    return _by_last_run(facts, facts.last_run)


def _reason_off(facts: SourceFacts) -> str:
    if not facts.enabled:
        return "switched off by a person"
    return "switched off by drift detection" if facts.auto_disabled else ""


def _reason_held_back(facts: SourceFacts, now: datetime) -> str:  # noqa: PLR0911 - one line per gate, read as a table
    if not facts.installed:
        return "no installed package brings its vertical"
    if not facts.robots_compliant:
        return "marked as not allowed by robots.txt"
    if facts.needs_approval:
        return "nobody has approved its terms of service; only manual runs go"
    if facts.targets == 0:
        return "it has no targets"
    if facts.targets_on == 0:
        return "all its targets are paused"
    if facts.targets_barred >= facts.targets_on:
        return "all its targets are marked as not allowed by robots.txt"
    if facts.targets_read == 0:
        return f"its adapter {facts.adapter_id} is switched off"
    if facts.breaker_state == "OPEN" and facts.cooldown_until is not None and facts.cooldown_until > now:
        return f"its breaker is open until {facts.cooldown_until:%Y-%m-%d %H:%M} UTC"
    return ""


def _by_last_run(  # noqa: PLR0911 - one line per finding, read as a table
    facts: SourceFacts, run: LastRun
) -> tuple[SourceStanding, str]:
    if run.status == "REFUSED":
        return SourceStanding.FAILING, "its last run was refused: by robots.txt, by its terms, or because it was off"
    if run.status == RunStatus.FAILED or (run.attempted and run.failed > FAILED_SHARE * run.attempted):
        return SourceStanding.FAILING, f"{run.failed} of {run.attempted} pages of its last run failed"
    if facts.targets_broken >= facts.targets_on > 0:
        return SourceStanding.FAILING, f"all {facts.targets_broken} targets are broken"
    if run.yielded == 0 and run.set_aside:
        return SourceStanding.BARREN, f"its last run set all {run.set_aside} records aside for a person"
    if run.yielded == 0 and run.complete:
        return SourceStanding.EMPTY, "its last run was complete, and its pages say that there is nothing"
    if run.yielded == 0:
        return SourceStanding.BARREN, "its last run yielded no record"
    return SourceStanding.WELL, _remarks(facts, run)


def _remarks(facts: SourceFacts, run: LastRun) -> str:
    """Return what is to be said of a source that is well."""
    said = [
        (run.failed, f"{run.failed} of {run.attempted} pages of its last run failed"),
        (facts.targets_broken, f"{facts.targets_broken} of {facts.targets} targets are broken"),
        (facts.letters, "1 dead letter waits" if facts.letters == 1 else f"{facts.letters} dead letters wait"),
    ]
    return "; ".join(words for count, words in said if count)
