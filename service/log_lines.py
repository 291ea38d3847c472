"""Log records that no text can split, and that hold no text of a student."""

from __future__ import annotations

import logging
import traceback
from types import TracebackType

from service.printable import printable

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class LineFormatter(logging.Formatter):
    """One line a record; under it, indented, where an unexpected exception came from.

    An exception that nobody foresaw is told by its type and its lines of code, without its own
    text: that may repeat the answer on which it happened.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """The line."""
        record.message = printable(record.message.strip())
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
