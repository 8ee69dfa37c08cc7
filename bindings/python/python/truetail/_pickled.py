"""Results in pickles: the packed run, and what only Python knows of it."""

from __future__ import annotations

import os
import pickle
import tempfile
import traceback
from typing import NamedTuple, Optional

from truetail import _native
from truetail._native import Result


class PickledException(NamedTuple):
    """An exception, and its traceback as text."""

    error: BaseException
    traceback: str


def portable(error: BaseException) -> PickledException:
    """The exception as it can be pickled. One that cannot be becomes an :class:`Exception` with its text."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        again = pickle.loads(pickle.dumps(error))
    except Exception:
        again = None
    if type(again) is not type(error):
        error = Exception("".join(traceback.format_exception_only(type(error), error)).strip())
    return PickledException(error, text)


def _with_traceback(first: PickledException) -> BaseException:
    """The exception, with its traceback as a note, which Python has since 3.11."""
    if hasattr(first.error, "add_note"):
        first.error.add_note(f"Traceback before it was pickled:\n{first.traceback}")
    return first.error


def restored(
    pack: str, exceptions: dict[str, int], first: Optional[PickledException], labels: str, lacking: list[str]
) -> Result:
    """The result that was pickled."""
    error = None if first is None else _with_traceback(first)
    with tempfile.TemporaryDirectory(prefix="truetail-") as folder:
        path = os.path.join(folder, "run.pack")
        with open(path, "w", encoding="ascii") as file:
            file.write(pack)
        return _native.restored(path, exceptions, error, labels, lacking)
