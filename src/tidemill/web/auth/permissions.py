"""What each route needs: one table, which the gate obeys and a test walks."""

import re
from collections.abc import Mapping
from enum import StrEnum

from tidemill.core.access.roles import Role


class Need(StrEnum):
    """What a route asks of its caller, from nothing to admin."""

    OPEN = "open"
    """Anybody: signing in, and whether we are alive."""
    READER = "reader"
    """Published data: anybody while `public_readers` is set, else a viewer."""
    WATCH = "watch"
    """Figures for monitoring: this machine, the watch token, or a viewer."""
    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def role(self) -> Role | None:
        """The role that is enough; None where no role is asked for."""
        return None if self is Need.OPEN else _ROLES.get(self, Role.VIEWER)


_ROLES = {Need.OPERATOR: Role.OPERATOR, Need.ADMIN: Role.ADMIN}

Permissions = Mapping[tuple[str, str], Need]
"""Needs by method and path template."""

_API = "/api/v1"
_CONVERTER = re.compile(r":\w+\}")


def plain_path(path: str) -> str:
    """Return a path template without the kinds of its parameters, which do not matter here."""
    return _CONVERTER.sub("}", path)


def rows(need: Need, *routes: str) -> dict[tuple[str, str], Need]:
    """Return rows for routes that are written as `METHOD /path`."""
    pairs = [(method, plain_path(path)) for method, _, path in (route.partition(" ") for route in routes)]
    return dict.fromkeys(pairs, need)


PERMISSIONS: Permissions = {
    **rows(Need.OPEN, "GET /health", "GET /ready", "GET /sign-in", "POST /sign-in", "GET /welcome", "POST /welcome"),
    **rows(Need.WATCH, "GET /status", "GET /metrics"),
    **rows(Need.READER, f"GET {_API}/openapi.json"),
    **rows(
        Need.VIEWER,
        "GET /dead-letters/rows.csv", "GET /quarantine/rows.csv", "GET /targets/rows.csv", "GET /breakers/rows.csv",
        "GET /adapters/rows.csv", "GET /proposals/rows.csv", "GET /replays/rows.csv", "GET /candidates/rows.csv",
        "GET /incidents/rows.csv", "GET /ticks/rows.csv",
        "GET /dead-letters/{key}", "GET /quarantine/{key}", "GET /targets/{key}", "GET /adapters/{key}",
        "GET /proposals/{key}", "GET /candidates/{key}", "GET /why", "GET /objectives", f"GET {_API}/objectives",
        "GET /alerts", f"GET {_API}/alerts/rules",
        "GET /webhooks", "GET /pages", "GET /pages/{page_id}", "GET /pages/{page_id}/frame",
        "GET /pages/{page_id}/pick", "GET /system",
        "GET /api-guide", "GET /", "GET /sources", "GET /sources/{name}", "GET /runs", "GET /runs/{run_id}",
        "GET /work", "GET /dead-letters", "GET /quarantine", "GET /targets", "GET /breakers", "GET /adapters",
        "GET /proposals", "GET /replays", "GET /replays/{replay_id}",
        "GET /candidates", "GET /incidents", "GET /incidents/{incident_id}",
        "GET /ticks", "GET /exports", f"GET {_API}/exports",
        "GET /account", "POST /account/sign-out", "POST /account/sessions/{session}/end",
        f"GET {_API}/sources", f"GET {_API}/sources/{{name}}", f"GET {_API}/runs",
        f"GET {_API}/runs/{{run_id}}", f"GET {_API}/targets", f"GET {_API}/targets/{{target_id}}",
        f"GET {_API}/adapters", f"GET {_API}/adapters/{{name}}/baselines", f"GET {_API}/incidents",
        f"GET {_API}/incidents/{{incident_id}}",
        f"GET {_API}/alerts/outbox", f"GET {_API}/rounds", f"GET {_API}/services", f"GET {_API}/upgrades",
        f"GET {_API}/candidates", f"GET {_API}/candidates/{{candidate_id}}", f"GET {_API}/proposals",
        f"GET {_API}/replays", f"GET {_API}/replays/{{replay_id}}", f"GET {_API}/reading-changes",
        f"GET {_API}/proposals/{{proposal_id}}", f"GET {_API}/quarantine", f"GET {_API}/quarantine/{{record_id}}",
        f"GET {_API}/why/{{subject}}", f"GET {_API}/jobs", f"GET {_API}/jobs/{{job_id}}",
        f"GET {_API}/breakers", f"GET {_API}/dead-letters", f"GET {_API}/dead-letters/{{dead_letter_id}}",
        f"GET {_API}/pages", f"GET {_API}/pages/{{page_id}}", f"GET {_API}/pages/{{page_id}}/text",
        f"GET {_API}/pages/{{page_id}}/body",
        f"GET {_API}/pages/{{page_id}}/records", f"GET {_API}/ticks", f"GET {_API}/browsers", f"GET {_API}/me",
        f"GET {_API}/feeds", f"GET {_API}/webhooks", f"GET {_API}/webhooks/{{name}}",
        f"GET {_API}/webhooks/deliveries", f"GET {_API}/webhooks/deliveries/{{delivery_id}}",
        f"GET {_API}/me/sessions", f"DELETE {_API}/me/sessions/{{session}}",
    ),
    **rows(
        Need.OPERATOR,
        "POST /dead-letters/ticked", "POST /quarantine/ticked", "POST /targets/ticked", "POST /breakers/ticked",
        "POST /adapters/ticked", "POST /proposals/ticked", "POST /candidates/ticked",
        "POST /dead-letters/discard-all",
        "POST /dead-letters/{key}/retry", "POST /dead-letters/{key}/discard", "POST /dead-letters/retry-all",
        "POST /quarantine/release-all", "POST /quarantine/reject-all", "POST /dead-letters/requeue-stale",
        "POST /quarantine/{key}/release", "POST /quarantine/{key}/reject", "POST /targets/{key}/run",
        "POST /targets/{key}/pause", "POST /targets/{key}/resume", "POST /targets/{key}/remove",
        "POST /breakers/reset-all", "POST /breakers/{key}/reset", "POST /adapters/{key}/try",
        "POST /adapters/{key}/bless",
        "POST /adapters/{key}/enable", "POST /adapters/{key}/disable",
        "POST /replays/{key}/accept", "POST /replays/{key}/refuse",
        "POST /replays/{key}/apply", "POST /replays/{key}/revert",
        "POST /proposals/{key}/accept", "POST /proposals/{key}/reject", "POST /candidates/{key}/approve",
        "POST /candidates/{key}/reject", "POST /ticks/{key}/run", "GET /add-source", "POST /add-source",
        "GET /import-targets", "POST /import-targets", "POST /import-sources", "POST /webhooks",
        "POST /webhooks/{name}/test",
        "POST /webhooks/{name}/rotate",
        "POST /webhooks/{name}/switch", "POST /webhooks/{name}/remove",
        "POST /webhooks/deliveries/{delivery_id}/replay", "POST /webhooks/deliveries/retry",
        "POST /webhooks/{name}/replay",
        "POST /sources/bulk", "POST /try-source",
        "POST /pages/{page_id}/pick",
        "POST /sources/{name}/targets", "POST /sources/{name}/targets/{target_id}",
        "POST /sources/{name}/reset-breaker",
        "POST /sources/{name}/retry-letters", "POST /sources/{name}/accept-upgrade",
        "POST /sources/{name}/dismiss-upgrade",
        "POST /sources/{name}/tags", "POST /sources/{name}/remove", "POST /sources/{name}/run",
        "POST /sources/{name}/enable", "POST /sources/{name}/disable",
        f"POST {_API}/sources/{{name}}/run", f"POST {_API}/sources/{{name}}/enable",
        f"POST {_API}/sources/{{name}}/disable", f"POST {_API}/sources", f"POST {_API}/sources/import",
        f"PATCH {_API}/sources/{{name}}", f"DELETE {_API}/sources/{{name}}",
        f"POST {_API}/targets", f"POST {_API}/targets/import",
        f"PATCH {_API}/targets/{{target_id}}", f"DELETE {_API}/targets/{{target_id}}",
        f"POST {_API}/targets/{{target_id}}/pause",
        f"POST {_API}/targets/{{target_id}}/resume", f"POST {_API}/targets/{{target_id}}/run",
        f"POST {_API}/adapters/{{name}}/try",
        f"POST {_API}/adapters/{{name}}/bless", f"POST {_API}/adapters/{{name}}/disable",
        f"POST {_API}/adapters/{{name}}/enable", f"POST {_API}/candidates/{{candidate_id}}/approve",
        f"POST {_API}/candidates/{{candidate_id}}/reject", f"POST {_API}/proposals/{{proposal_id}}/accept",
        f"POST {_API}/proposals/{{proposal_id}}/reject", f"POST {_API}/quarantine/reject",
        f"POST {_API}/quarantine/release",
        f"POST {_API}/sources/{{name}}/roll-back", "POST /sources/{name}/roll-back",
        f"POST {_API}/replays", f"POST {_API}/replays/{{replay_id}}/accept",
        f"POST {_API}/replays/{{replay_id}}/refuse", f"POST {_API}/replays/{{replay_id}}/apply",
        f"POST {_API}/replays/{{replay_id}}/revert",
        f"POST {_API}/quarantine/{{record_id}}/reject",
        f"POST {_API}/quarantine/{{record_id}}/release", f"POST {_API}/upgrades/{{name}}/accept",
        f"POST {_API}/upgrades/{{name}}/dismiss", f"POST {_API}/breakers/reset",
        f"POST {_API}/breakers/{{source}}/reset", f"POST {_API}/dead-letters/retry",
        f"POST {_API}/dead-letters/discard", f"POST {_API}/dead-letters/{{dead_letter_id}}/retry",
        f"GET {_API}/dead-letters/{{dead_letter_id}}/bundle",
        f"POST {_API}/dead-letters/{{dead_letter_id}}/discard", f"POST {_API}/jobs/requeue-stale",
        f"POST {_API}/ticks/{{name}}/run", f"POST {_API}/webhooks", f"DELETE {_API}/webhooks/{{name}}",
        f"POST {_API}/webhooks/{{name}}/enable", f"POST {_API}/webhooks/{{name}}/disable",
        f"POST {_API}/webhooks/{{name}}/rotate", f"POST {_API}/webhooks/{{name}}/test",
        f"POST {_API}/webhooks/{{name}}/replay", f"POST {_API}/webhooks/deliveries/retry",
        f"POST {_API}/webhooks/deliveries/{{delivery_id}}/replay",
        "POST /incidents/{key}/acknowledge", "POST /incidents/{key}/snooze", "POST /incidents/{key}/comment",
        "POST /incidents/{key}/close", "POST /incidents/send-test", f"POST {_API}/alerts/test",
        f"POST {_API}/incidents/{{incident_id}}/acknowledge", f"POST {_API}/incidents/{{incident_id}}/snooze",
        f"POST {_API}/incidents/{{incident_id}}/comment", f"POST {_API}/incidents/{{incident_id}}/close",
    ),
    **rows(
        Need.ADMIN,
        "GET /audit", "GET /audit/rows.csv", "GET /settings", "POST /system/recycle",
        "POST /sources/{name}/approve-terms",
        "POST /api/admin/recycle", f"GET {_API}/audit", f"GET {_API}/audit/export", f"GET {_API}/settings",
        f"GET {_API}/people",
        f"POST {_API}/people", f"PATCH {_API}/people/{{name}}", f"DELETE {_API}/people/{{name}}",
        f"POST {_API}/people/{{name}}/reset", f"GET {_API}/tokens", f"POST {_API}/tokens",
        f"DELETE {_API}/tokens/{{token_id}}", "GET /people", "POST /people", "POST /people/{name}/reset",
        "POST /people/{name}/role", "POST /people/{name}/disable", "POST /people/{name}/enable",
        "POST /people/{name}/remove", "POST /tokens", "POST /tokens/{token_id}/revoke",
    ),
}  # fmt: skip
"""The generic routes; a vertical brings the rows of its own."""


def need_of(method: str, path: str, permissions: Permissions) -> Need:
    """Return what a route needs; one without a row is an admin's, and a test fails for it."""
    return permissions.get((method, plain_path(path)), Need.ADMIN)
