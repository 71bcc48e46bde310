"""What is logged in a test, without the plug-in of pytest; `tests/conftest.py` says why."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator


class Log(logging.Handler):
    """The records of a test, as `pytest.LogCaptureFixture` has them."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self._levels: dict[logging.Logger, int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        record.message = record.getMessage()
        self.records.append(record)

    @property
    def messages(self) -> list[str]:
        """What was said."""
        return [record.message for record in self.records]

    @property
    def text(self) -> str:
        """What was said, and the errors that led to it, a line each."""
        return "".join(f"{self.format(record)}\n" for record in self.records)

    def clear(self) -> None:
        """Forget what was said."""
        self.records.clear()

    def set_level(self, level: int, logger: str | None = None) -> None:
        """Log from a level on, until the test ends."""
        changed = logging.getLogger(logger)
        self._levels.setdefault(changed, changed.level)
        changed.setLevel(level)

    @contextlib.contextmanager
    def at_level(self, level: int, logger: str | None = None) -> Iterator[None]:
        """Log from a level on for some lines."""
        changed = logging.getLogger(logger)
        before = changed.level
        changed.setLevel(level)
        try:
            yield
        finally:
            changed.setLevel(before)

    @contextlib.contextmanager
    def attached(self) -> Iterator[Log]:
        """Listen to all loggers."""
        root = logging.getLogger()
        root.addHandler(self)
        try:
            yield self
        finally:
            root.removeHandler(self)
            for logger, level in self._levels.items():
                logger.setLevel(level)
