"""Messages and gRPC calls: their options, as words of the command line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Optional, Union

from truetail._native import nanoseconds
from truetail._types import Path, Time


def time_words(name: str, given: Optional[Time]) -> Optional[str]:
    """The time as the command line has it; ``None`` where there is none."""
    return None if given is None else f"{nanoseconds(name, given)}ns"


def paths(given: Union[Path, Iterable[Path]]) -> list[Path]:
    """The paths of an argument that takes one or several."""
    return [given] if isinstance(given, (str, os.PathLike)) else list(given)


def content(url: Optional[str], data: Union[str, bytes, None], data_hex: Optional[str]) -> dict[str, Optional[str]]:
    """The options for the content of a message: bytes are sent as they are, and are JSON for gRPC."""
    if not isinstance(data, bytes):
        return {"data": data, "data-hex": data_hex}
    if url is None or not url.strip().lower().startswith("grpc"):
        if data_hex is not None:
            raise ValueError("data_hex: it contradicts data; a message has one content")
        return {"data-hex": data.hex()}
    try:
        return {"data": data.decode(), "data-hex": data_hex}
    except UnicodeDecodeError as error:
        raise ValueError(f"data: a message for gRPC is JSON, and this is not UTF-8: {error}") from None


def words(url: Optional[str], options: Mapping[str, Any]) -> list[str]:
    """The words of a command line: the URL, then each option that was given."""
    found = [] if url is None else [url]
    for name, value in options.items():
        if value is True:
            found.append(f"--{name}")
        elif isinstance(value, list):
            found += [f"--{name}={os.fspath(each)}" for each in value]
        elif value is not None and value is not False:
            found.append(f"--{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return found
