"""Why a service outside of us stands as it does, and what happens instead."""

from datetime import datetime

from tidemill.core.services.degradation import FALLBACKS, ServiceState, ServiceStatus
from tidemill.operations.why.explanation import Explanation, Step, away, known, passed, stopped


def why_service(status: ServiceStatus, now: datetime) -> Explanation:
    """Whether it answers, since when not, why, and what stands in for it."""
    subject = f"service {status.service}"
    return Explanation(subject, verdict(status, now), [service_step(status, now), *_advice(status)])


def verdict(status: ServiceStatus, now: datetime) -> str:
    """How it stands, in a sentence."""
    match status.state:
        case ServiceState.DEGRADED:
            since = f" since {away(status.since, now)}" if status.since else ""
            return f"degraded{since}: {status.reason}; meanwhile {status.fallback}"
        case ServiceState.OFF:
            return f"off: {status.reason}; without it {status.fallback}"
        case _:
            return "works, as far as anybody has noticed"


def service_step(status: ServiceStatus, now: datetime) -> Step:
    """The line about a service in any explanation."""
    gate = f"service {status.service}"
    if status.state is ServiceState.DEGRADED:
        return stopped(gate, verdict(status, now))
    return known(gate, verdict(status, now)) if status.state is ServiceState.OFF else passed(gate, verdict(status, now))


def _advice(status: ServiceStatus) -> list[Step]:
    row = FALLBACKS[status.service]
    return [
        known("fallback", row.fallback),
        known("set up", row.setup),
        known("recovery", "it is asked again every minute while it is degraded; nobody need do anything"),
    ]
