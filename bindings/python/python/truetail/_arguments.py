"""Conversion of arguments that several functions share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Optional

from truetail._types import HeadersLike


def texts(name: str, given: object, example: str) -> list[str]:
    """The texts of an argument. A single one in place of a list is refused: its letters would be the list."""
    if isinstance(given, str):
        raise TypeError(f"{name}: expected a list of texts, not str; write {name}=[{given!r}]")
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise TypeError(f"{name}: expected a list of texts such as [{example!r}], not {type(given).__name__}")
    found = list(given)
    for each in found:
        if not isinstance(each, str):
            raise TypeError(f"{name}: expected a list of texts such as [{example!r}], and {each!r} in it is none")
    return found


def header_pairs(given: HeadersLike) -> list[tuple[str, str]]:
    """Names and values of headers."""
    found = given.items() if isinstance(given, Mapping) else given
    problem = "headers: expected a dict such as {'Accept': 'text/html'}, or pairs of name and value, not"
    if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
        raise TypeError(f"{problem} {type(given).__name__}")
    fields = list(found)
    for field in fields:
        if isinstance(field, (str, bytes)) or not isinstance(field, Sequence) or len(field) != 2:
            raise TypeError(f"{problem} {field!r}")
    return [(str(name), str(value)) for name, value in fields]


def row_tuple(given: Optional[Sequence[object]]) -> Optional[tuple[object, ...]]:
    """The rows of :func:`bench`."""
    if given is None:
        return None
    if isinstance(given, (str, bytes, Mapping)) or not (hasattr(given, "__len__") and hasattr(given, "__getitem__")):
        raise TypeError(f"rows: expected a sequence such as a list, not {type(given).__name__}")
    if len(given) == 0:
        raise ValueError("rows: it is empty; give at least one row, or leave it out")
    return tuple(given)


def refuse_uncallable(**functions: object) -> None:
    """Refuses an argument that should be a function, or ``None``."""
    for name, given in functions.items():
        if given is not None and not callable(given):
            raise TypeError(f"{name}: {type(given).__name__!r} is not callable; pass the function itself, without ()")


def refuse_other_signature(fn: Callable[..., object], setup: Optional[Callable[[], object]], rows: object) -> None:
    """Refuses a function that cannot be called with what ``setup`` and ``rows`` give."""
    names = [name for name, given in (("the value of setup", setup), ("a row", rows)) if given is not None]
    if not names:
        return
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*names)
    except TypeError as error:
        raise TypeError(f"fn: it is called with {' and '.join(names)}: {error}") from None


def pair(name: str, given: Any) -> Optional[tuple[str, str]]:
    """Two texts, such as a user and a password."""
    if given is None:
        return None
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence) or [type(each) for each in given] != [str, str]:
        raise TypeError(f"{name}: expected a name and a password, such as ('me', 'secret')")
    return given[0], given[1]
