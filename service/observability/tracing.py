"""OpenTelemetry traces, where an endpoint is set and the library is there."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"

_log = logging.getLogger(__name__)
_provider: TracerProvider | None = None


def start(version: str) -> None:
    """Send the spans of this process to the endpoint that the environment names, if any.

    Args:
        version: of the service.
    """
    if not os.environ.get(ENDPOINT):
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        _log.error(
            "%s is set, but %s is not installed, so there are no traces: "
            "run `pip install 'steadyeval[otel]'`",
            ENDPOINT,
            error.name,
        )
        return
    resource = Resource.create({"service.name": "steadyeval", "service.version": version})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    use(provider)


def use(provider: TracerProvider | None) -> None:
    """Let spans be made by `provider`; None makes none."""
    global _provider
    _provider = provider


def stop() -> None:
    """Send what is left and make no more spans."""
    if _provider is not None:
        _provider.shutdown()
    use(None)


@contextmanager
def span(
    name: str,
    attributes: Mapping[str, str | int] | None = None,
    *,
    caller: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Measure the body, inside the span that is open on this thread.

    An exception leaves its type in the span and not its text, which may repeat an answer.

    Args:
        name: of the span.
        attributes: of the span.
        caller: headers of a request, whose sender may have begun the trace.
    """
    if _provider is None:
        yield
        return
    from opentelemetry.propagate import extract
    from opentelemetry.trace import SpanKind, Status, StatusCode

    with _provider.get_tracer("steadyeval").start_as_current_span(
        name,
        context=None if caller is None else extract(caller),
        kind=SpanKind.INTERNAL if caller is None else SpanKind.SERVER,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as opened:
        try:
            yield
        except BaseException as error:
            opened.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


def describe(attributes: Mapping[str, str | int]) -> None:
    """Add attributes to the span that is open."""
    if _provider is not None:
        from opentelemetry.trace import get_current_span

        get_current_span().set_attributes(attributes)
