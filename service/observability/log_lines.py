"""Log records that no text can split, and that hold no text of a student."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from service.observability import request_id
from service.printable import printable
from service.settings import Settings

FIELDS = "fields"
"""Name of the attribute of a record, given as `extra`, that maps names of fields to values."""

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """The fields that came with a record, and the id of the request that is served."""
    given: Mapping[str, Any] = getattr(record, FIELDS, {})
    served = request_id.current.get()
    return {**({} if served is None else {"request_id": served}), **given}


class LineFormatter(logging.Formatter):
    """One line a record; under it, indented, where an unexpected exception came from.

    An exception that nobody foresaw is told by its type and its lines of code, without its own
    text: that may repeat the answer on which it happened.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """The line."""
        shown = [f"{name}={value}" for name, value in fields_of(record).items()]
        record.message = printable(" ".join([record.message.strip(), *shown]))
        return super().formatMessage(record)

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802
        """The types of an exception and of its causes, each with the way to it."""
        told = []
        error = ei[1]
        while error is not None:
            told.append(f"  {type(error).__module__}.{type(error).__qualname__}\n")
            told.extend(traceback.format_tb(error.__traceback__))
            context = None if error.__suppress_context__ else error.__context__
            error = error.__cause__ or context
        return "".join(told).rstrip()


class JsonFormatter(LineFormatter):
    """One JSON object a record, on one line, whatever its texts hold.

    Members: `time`, `level`, `logger`, `event`, `request_id` inside a request, the fields that
    came with the record, and for an unexpected exception `exception`, told as `LineFormatter`
    does.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        members = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage().strip(),
            **fields_of(record),
        }
        if record.exc_info:
            members["exception"] = self.formatException(record.exc_info).splitlines()
        return json.dumps(members)


_FORMATTERS = {"text": LineFormatter, "json": JsonFormatter}


def log_config(settings: Settings) -> dict[str, Any]:
    """What `logging.config.dictConfig` takes, for the service's process."""
    logger = {"handlers": ["stderr"], "level": settings.log_level.upper(), "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": _FORMATTERS[settings.log_format]}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "loggers": dict.fromkeys(("uvicorn", "service"), logger),
    }
