"""The periodic task `alerts`: run every check, decide, and write incidents and messages down."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from tidemill.alerts.ports import AlertCheck, IncidentStore, RoundStore
from tidemill.core.alerts.incidents import Telling, Trouble
from tidemill.core.alerts.messages import AlertNotice, notice_of
from tidemill.core.alerts.outgoing import NoticePolicy, OutgoingNotice, outgoing
from tidemill.core.alerts.rounds import RoundSummary, round_notice
from tidemill.core.alerts.table import AlertName, CauseKind
from tidemill.pipeline.happenings import Announce, IncidentEnded, IncidentOpened, RoundEnded
from tidemill.pipeline.ports import Clock, StoreLost

LONGEST_ERROR = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertEvaluation:
    """Evaluates all alerts; `redact` takes what looks like a secret out of a text."""

    clock: Clock
    announce: Announce
    checks: Sequence[AlertCheck]
    incidents: IncidentStore
    rounds: RoundStore
    policy: NoticePolicy
    runbooks: str
    redact: Callable[[str], str]

    async def run(self) -> str:
        """Run the checks, then open, follow and close incidents; sum up rounds that have ended."""
        now = self.clock.now()
        troubles, unknown = await self._find(now)

        def compose(telling: Telling) -> list[OutgoingNotice]:
            notices = [notice_of(each, self.runbooks, now) for each in telling.messages]
            return [each for notice in notices for each in outgoing(self._clean(notice), self.policy, now)]

        done = await self.incidents.evaluate(troubles, unknown, now, compose)
        for each in done.opened:
            self.announce(IncidentOpened(now, each.id, each.alert, each.severity, each.cause, each.detail))
        for each in done.closed:
            lasted = ((each.closed_at or now) - each.opened_at).total_seconds()
            self.announce(IncidentEnded(now, each.id, each.alert, each.severity, each.cause, lasted))
        rounds = await self._sum_up(now)
        failed = f"; checks failed: {len([each for each in troubles if each.alert is AlertName.CHECK_FAILED])}"
        return f"{len(done.opened)} opened, {len(done.closed)} over, {done.messages} messages, {rounds} rounds" + (
            failed if unknown else ""
        )

    async def _find(self, now: datetime) -> tuple[list[Trouble], set[AlertName]]:
        """Return what is wrong, and the alerts of which nobody can say because their check failed."""
        found: list[Trouble] = []
        unknown: set[AlertName] = set()
        for check in self.checks:
            try:
                troubles = await check.find(now)
            except StoreLost:
                raise
            except Exception as error:  # noqa: BLE001 - a check that fails is an alert of its own, and costs no other
                unknown.update(check.alerts)
                words = f"the check {check.name} failed: {type(error).__name__}: {error}"[:LONGEST_ERROR]
                found.append(
                    Trouble(alert=AlertName.CHECK_FAILED, cause=CauseKind.OURSELVES, subject=check.name, detail=words)
                )
            else:
                found += troubles
        return [msgspec.structs.replace(each, detail=self.redact(each.detail)) for each in found], unknown

    async def _sum_up(self, now: datetime) -> int:
        def compose(summary: RoundSummary) -> list[OutgoingNotice]:
            return outgoing(self._clean(round_notice(summary, now)), self.policy, now)

        ended = await self.rounds.sum_up(now, compose)
        for each in ended:
            self.announce(RoundEnded(now, each.vertical, each.runs, each.errors))
        return len(ended)

    def _clean(self, notice: AlertNotice) -> AlertNotice:
        """Return a notice without what looks like a secret: errors and scraped text reach it."""
        paragraphs = tuple(self.redact(each) for each in notice.paragraphs)
        return msgspec.structs.replace(notice, title=self.redact(notice.title), paragraphs=paragraphs)
