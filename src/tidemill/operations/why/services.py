"""Explains the status of an outside service, and its fallback."""

from datetime import datetime

from tidemill.core.services.degradation import FALLBACKS, ServiceState, ServiceStatus
from tidemill.operations.why.explanation import (
    Explanation,
    Step,
    blocking_step,
    format_relative,
    info_step,
    passing_step,
)


def why_service(status: ServiceStatus, now: datetime) -> Explanation:
    """Explain whether a service works, since when not, why, and what happens instead."""
    subject = f"service {status.service}"
    return Explanation(subject, verdict(status, now), [service_step(status, now), *_advice(status)])


def verdict(status: ServiceStatus, now: datetime) -> str:
    """Return its status in a sentence."""
    match status.state:
        case ServiceState.DEGRADED:
            since = f" since {format_relative(status.since, now)}" if status.since else ""
            return f"degraded{since}: {status.reason}; meanwhile {status.fallback}"
        case ServiceState.OFF:
            return f"off: {status.reason}; without it {status.fallback}"
        case _:
            return "works, as far as anybody has noticed"


def service_step(status: ServiceStatus, now: datetime) -> Step:
    """Return the step about a service in an explanation."""
    gate = f"service {status.service}"
    if status.state is ServiceState.DEGRADED:
        return blocking_step(gate, verdict(status, now))
    return (
        info_step(gate, verdict(status, now))
        if status.state is ServiceState.OFF
        else passing_step(gate, verdict(status, now))
    )


def _advice(status: ServiceStatus) -> list[Step]:
    row = FALLBACKS[status.service]
    return [
        info_step("fallback", row.fallback),
        info_step("set up", row.setup),
        info_step("recovery", "it is asked again every minute while it is degraded; nobody need do anything"),
    ]
