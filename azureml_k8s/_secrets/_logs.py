"""Mask secrets in log records before any handler sees them."""

from __future__ import annotations

import logging
import threading

from azureml_k8s._secrets._errors import masked_copy
from azureml_k8s._secrets._text import mask_text

_OWN_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_installing = threading.Lock()


class MaskingFilter(logging.Filter):
    """Rewrite every record so that its text, its error and its string extras hold no secrets; drop none.

    The message is formatted first, since a secret may be split over format and arguments; afterwards the record has
    no arguments. A record that cannot be formatted passes with its parts shown as they are, masked.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask the record in place and let it pass."""
        record.msg, record.args = mask_text(_text_of(record)), ()
        if isinstance(record.exc_info, tuple) and isinstance(record.exc_info[1], BaseException):
            error = masked_copy(record.exc_info[1])
            record.exc_info = (type(error), error, error.__traceback__)
        for name in ("exc_text", "stack_info"):
            self._mask_field(record, name)
        for name in vars(record).keys() - _OWN_FIELDS:
            self._mask_field(record, name)
        return True

    def _mask_field(self, record: logging.LogRecord, name: str) -> None:
        value = getattr(record, name, None)
        if isinstance(value, str):
            setattr(record, name, mask_text(value))


def get_logger(name: str) -> logging.Logger:
    """Return the logger of that name, masked: a filter of a parent logger does not see its children's records."""
    logger = logging.getLogger(name)
    with _installing:
        if not any(isinstance(one, MaskingFilter) for one in logger.filters):
            logger.addFilter(MaskingFilter())
    return logger


def mask_log_records_of(*logger_names: str) -> None:
    """Mask what these loggers log, but not what their children do; asking again changes nothing."""
    for name in logger_names:
        get_logger(name)


def _text_of(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # the arguments do not fit the format, or one of them cannot be shown
        return " ".join(map(_shown, (record.msg, record.args)))


def _shown(value: object) -> str:
    try:
        return value if isinstance(value, str) else repr(value)
    except Exception:
        return f"<{type(value).__name__} without a readable text>"
