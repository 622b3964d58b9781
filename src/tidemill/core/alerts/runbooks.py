"""The part of a runbook that is written from the table of alerts; the rest of it is a person's."""

from datetime import timedelta

from tidemill.core.alerts.table import AlertRule, CauseKind, Severity

BEGINS, ENDS = "<!-- from the table of alerts -->", "<!-- /from the table of alerts -->"
SECTIONS = ("## Look", "## Do", "## When to wake someone")
"""What follows the table's part in every runbook."""

_URGENCY = {
    Severity.P1: "P1: it wakes somebody, and quiet hours do not hold it",
    Severity.P2: "P2: for today",
    Severity.P3: "P3: for this week",
}
_CAUSES = {
    CauseKind.HOST: "host",
    CauseKind.ADAPTER: "adapter",
    CauseKind.SCOPE: "list that is read as a whole",
    CauseKind.VERTICAL: "vertical",
    CauseKind.SERVICE: "service",
    CauseKind.DATABASE: "database",
    CauseKind.OURSELVES: "installation",
}


def runbook_head(rule: AlertRule) -> str:
    """Return the beginning of a runbook: what the alert is, what it means, and what is done first."""
    minutes = rule.delay // timedelta(minutes=1)
    delay = f"after it has held for {minutes} min" if minutes else "at once"
    return (
        f"{BEGINS}\n# {rule.name.value}\n\n"
        f"| | |\n| --- | --- |\n"
        f"| urgency | {_URGENCY[rule.severity]} |\n"
        f"| told | {delay}, once for each {_CAUSES[rule.cause]} |\n"
        f"| condition | {rule.condition} |\n\n"
        f"## Meaning\n\n{rule.meaning}\n\nFirst: {rule.action[0].lower() + rule.action[1:]}\n{ENDS}\n"
    )
