"""Spans to an OpenTelemetry collector by OTLP over HTTP, where the extra `traces` is installed.

Its SDK sends from a thread of its own, in batches; spans that find its queue full are dropped, and nothing waits.
"""

import importlib
import importlib.util
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tidemill.core.views.spans import TraceSpan

SCOPE = "tidemill"
SAMPLED = 1
NANOS = 1_000


def is_installed() -> bool:
    """Return whether the packages of the extra are here."""
    return all(
        importlib.util.find_spec(name) is not None for name in ("opentelemetry", "opentelemetry.exporter")
    )  # fmt: skip


class OtlpExporter:
    """Takes finished spans and sends them on; the address may hold a key, and stands in no span."""

    def __init__(self, address: str, headers: Mapping[str, str], *, version: str, worker: str) -> None:
        """Load the packages and begin to send."""
        self._trace: Any = importlib.import_module("opentelemetry.trace")
        self._sdk: Any = importlib.import_module("opentelemetry.sdk.trace")
        export: Any = importlib.import_module("opentelemetry.sdk.trace.export")
        http: Any = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        resources: Any = importlib.import_module("opentelemetry.sdk.resources")
        scopes: Any = importlib.import_module("opentelemetry.sdk.util.instrumentation")
        named = {"service.name": SCOPE, "service.version": version, "service.instance.id": worker}
        self._resource = resources.Resource(named)
        self._scope = scopes.InstrumentationScope(SCOPE, version)
        self._processor = export.BatchSpanProcessor(http.OTLPSpanExporter(endpoint=address, headers=dict(headers)))

    def take(self, span: TraceSpan) -> None:
        """Queue a span."""
        failed = self._trace.StatusCode.ERROR if span.failure else self._trace.StatusCode.UNSET
        self._processor.on_end(
            self._sdk.ReadableSpan(
                name=span.name,
                context=self._context(span.trace, span.number),
                parent=self._context(span.trace, span.parent) if span.parent else None,
                resource=self._resource,
                attributes=dict(span.attributes),
                status=self._trace.Status(failed, span.failure or None),
                start_time=_nanos(span.begins),
                end_time=_nanos(span.ends),
                instrumentation_scope=self._scope,
            )
        )

    def _context(self, trace: int, span: int) -> Any:
        flags = self._trace.TraceFlags(SAMPLED)
        return self._trace.SpanContext(trace, span, is_remote=False, trace_flags=flags)

    def close(self) -> None:
        """Send what is queued, and stop."""
        self._processor.shutdown()


def _nanos(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * NANOS
