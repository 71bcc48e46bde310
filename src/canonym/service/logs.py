"""The log: one JSON object a line, with the id of the request it belongs to."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is being answered, empty outside of any."""

access = logging.getLogger("canonym.service.requests")
"""Gets one record for each request, with an attribute ``facts``."""


class JsonFormatter(logging.Formatter):
    """Writes records as JSON; messages of exceptions may quote a request and are left out.

    With `quote` they are written too.
    """

    def __init__(self, *, quote: bool) -> None:
        super().__init__()
        self._quote = quote

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id.get():
            line["request_id"] = request_id.get()
        line.update(getattr(record, "facts", {}))
        if record.exc_info and record.exc_info[0] is not None:
            kind, error, trace = record.exc_info
            line["error"] = kind.__name__
            line["trace"] = [line_.strip() for line_ in traceback.format_tb(trace)]
            if self._quote:
                line["error_message"] = str(error)
        return json.dumps(line, default=str)


def start_logging(*, quote: bool) -> None:
    """Send the log of the service and of its server to standard error, as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(quote=quote))
    for name in ("canonym", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False
    logging.getLogger("uvicorn.access").disabled = True  # its lines hold whole addresses
