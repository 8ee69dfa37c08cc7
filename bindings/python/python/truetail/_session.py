"""What a session of :func:`truetail.flow` works with: its user's requests, think times and answers."""

from __future__ import annotations

import json as json_module
from collections.abc import Awaitable, Generator, Iterable, Iterator, Mapping
from email.message import Message
from typing import Any, Optional, Union
from urllib.parse import urlencode

from truetail._arguments import header_pairs
from truetail._native import nanoseconds
from truetail._types import HeadersLike, Time

Fields = Union[Mapping[str, object], Iterable[tuple[str, object]]]


class StatusError(Exception):
    """:meth:`Response.raise_for_status` was asked about a status from 400 on."""


class BodyTooLong(Exception):
    """The body of an answer is longer than the 1 MiB that is kept of it."""


class Headers(Mapping[str, str]):
    """Header fields. Names are in whatever case; the values of fields of one name are joined by ``", "``."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> str:
        values = self.get_all(name)
        if not values:
            raise KeyError(name)
        return ", ".join(values)

    def get_all(self, name: str) -> list[str]:
        """The value of each field of this name, in order."""
        return [value for known, value in self._fields if known.lower() == name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name.lower() for name, _ in self._fields))

    def __len__(self) -> int:
        return len({name.lower() for name, _ in self._fields})

    def __repr__(self) -> str:
        return f"Headers({self._fields!r})"


class Response:
    """A whole answer."""

    status: int
    """The HTTP status."""
    http_version: str
    """``"1.0"``, ``"1.1"`` or ``"2"``."""
    headers: Headers
    """The header fields."""
    elapsed: float
    """The response time in seconds: from when the request was due to the end of the answer."""

    def __init__(
        self, status: int, http_version: str, fields: list[tuple[str, str]], body: bytes, is_whole: bool, elapsed: float
    ) -> None:
        self.status, self.http_version, self.headers, self.elapsed = status, http_version, Headers(fields), elapsed
        self._body, self._is_whole = body, is_whole

    @property
    def ok(self) -> bool:
        """The status is below 400."""
        return self.status < 400

    @property
    def body(self) -> bytes:
        """The body. It is never decompressed. One of more than 1 MiB raises :class:`BodyTooLong`."""
        if not self._is_whole:
            raise BodyTooLong("the body is longer than the 1 MiB that is kept of it")
        return self._body

    @property
    def text(self) -> str:
        """The body as text, by the charset that ``Content-Type`` names, or else UTF-8."""
        message = Message()
        message["Content-Type"] = self.headers.get("content-type", "")
        charset = message.get_content_charset("utf-8")
        return self.body.decode(charset, errors="replace")

    def json(self) -> Any:
        """The body as JSON."""
        return json_module.loads(self.body)

    def raise_for_status(self) -> Response:
        """Ends the session, with the cause ``status``, if the status is 400 or more."""
        if not self.ok:
            raise StatusError(f"the status is {self.status}")
        return self

    def __repr__(self) -> str:
        return f"<Response {self.status}>"


class Operation(Awaitable[Any]):
    """What a session waits for. It does nothing until it is awaited."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.awaited = False

    def __await__(self) -> Generator[Operation, Any, Any]:
        if self.awaited:
            raise RuntimeError(f"{self.what} was awaited before; make a new one")
        self.awaited = True
        return (yield self)

    def __repr__(self) -> str:
        return f"<{self.what}>"


class Request(Operation):
    """A request of a step: method, path with query, header fields, body."""

    def __init__(self, what: str, step: int, asked: tuple[str, str, list[tuple[str, str]], bytes]) -> None:
        super().__init__(what)
        self.step, self.asked = step, asked


class Sleep(Operation):
    """Think time."""

    def __init__(self, what: str, nanoseconds: int) -> None:
        super().__init__(what)
        self.nanoseconds = nanoseconds


class Session:
    """One user. Each has its own cookies, and the requests of all share the connections."""

    number: int
    """The place of this session among all of the load, from 0. It is the same in each run of the same load."""

    def __init__(self, number: int, steps: Mapping[str, int], headers: list[tuple[str, str]]) -> None:
        self.number = number
        self._steps, self._headers = steps, headers
        self._made: list[Operation] = []

    def request(
        self,
        method: str,
        path: str,
        *,
        step: Optional[str] = None,
        params: Optional[Fields] = None,
        headers: HeadersLike = (),
        data: Union[str, bytes, Fields, None] = None,
        json: Any = None,
    ) -> Awaitable[Response]:
        """Sends a request when it is awaited, and returns the whole answer. Redirects are answers like any other.

        ``path``     path and query, from the first slash on; or a whole URL, of one of the origins that :func:`flow` was told
        ``step``     the step that it counts to, one of those that :func:`flow` was told; default: method and path without the
                     query, such as ``"GET /items"``
        ``params``   added to the query
        ``headers``  in addition to those of all requests, or in place of them where the names are the same
        ``data``     the body, or the fields of a form
        ``json``     the body as JSON
        """
        if not isinstance(path, str) or not path.startswith(("/", "http://", "https://")):
            raise ValueError(f"path: {path!r} does not begin with a slash; the origin is an argument of truetail.flow")
        method = method.upper()
        number = self._step(step if step is not None else f"{method} {path.partition('?')[0].partition('#')[0]}")
        body, content_type = _body(data, json)
        fields = _replaced(self._headers, header_pairs(headers))
        if content_type is not None and not any(name.lower() == "content-type" for name, _ in fields):
            fields.append(("Content-Type", content_type))
        target = _with_params(path, params)
        for text in (method, target, *(part for field in fields for part in field)):
            # What is no text of Unicode raises here, where it was written.
            text.encode()
        asked = Request(f"s.request({method!r}, {path!r})", number, (method, target, fields, body))
        self._made.append(asked)
        return asked

    def get(
        self,
        path: str,
        *,
        step: Optional[str] = None,
        params: Optional[Fields] = None,
        headers: HeadersLike = (),
    ) -> Awaitable[Response]:
        """As :meth:`request` with GET."""
        return self.request("GET", path, step=step, params=params, headers=headers)

    def head(
        self,
        path: str,
        *,
        step: Optional[str] = None,
        params: Optional[Fields] = None,
        headers: HeadersLike = (),
    ) -> Awaitable[Response]:
        """As :meth:`request` with HEAD."""
        return self.request("HEAD", path, step=step, params=params, headers=headers)

    def delete(
        self,
        path: str,
        *,
        step: Optional[str] = None,
        params: Optional[Fields] = None,
        headers: HeadersLike = (),
        data: Union[str, bytes, Fields, None] = None,
        json: Any = None,
    ) -> Awaitable[Response]:
        """As :meth:`request` with DELETE."""
        return self.request("DELETE", path, step=step, params=params, headers=headers, data=data, json=json)

    def post(
        self,
        path: str,
        *,
        step: Optional[str] = None,
        params: Optional[Fields] = None,
        headers: HeadersLike = (),
        data: Union[str, bytes, Fields, None] = None,
        json: Any = None,
    ) -> Awaitable[Response]:
        """As :meth:`request` with POST."""
        return self.request("POST", path, step=step, params=params, headers=headers, data=data, json=json)

    def put(
        self,
        path: str,
        *,
        step: Optional[str] = None,
        params: Optional[Fields] = None,
        headers: HeadersLike = (),
        data: Union[str, bytes, Fields, None] = None,
        json: Any = None,
    ) -> Awaitable[Response]:
        """As :meth:`request` with PUT."""
        return self.request("PUT", path, step=step, params=params, headers=headers, data=data, json=json)

    def patch(
        self,
        path: str,
        *,
        step: Optional[str] = None,
        params: Optional[Fields] = None,
        headers: HeadersLike = (),
        data: Union[str, bytes, Fields, None] = None,
        json: Any = None,
    ) -> Awaitable[Response]:
        """As :meth:`request` with PATCH."""
        return self.request("PATCH", path, step=step, params=params, headers=headers, data=data, json=json)

    def sleep(self, seconds: Time) -> Awaitable[None]:
        """Think time before the next request. It is planned: no time of a session or of a request has it.

        The function goes on at once, so that its next request is made before it is due.
        """
        asked = Sleep(f"s.sleep({seconds!r})", nanoseconds("seconds", seconds))
        self._made.append(asked)
        return asked

    def unawaited(self) -> list[Operation]:
        """What was made and has not been awaited."""
        self._made = [made for made in self._made if not made.awaited]
        return self._made

    def _step(self, name: str) -> int:
        number = self._steps.get(name)
        if number is None:
            known = ", ".join(repr(step) for step in self._steps)
            raise ValueError(f"step: there is no {name!r}; truetail.flow was told of {known}")
        return number

    def refuse_unawaited(self) -> None:
        """Raises where something was made and never awaited, which did nothing. For the one who steps the coroutine."""
        forgotten = self.unawaited()
        if forgotten:
            raise RuntimeError(f"{forgotten[0].what} was never awaited; write 'await' before it")


def _replaced(all_requests: list[tuple[str, str]], own: list[tuple[str, str]]) -> list[tuple[str, str]]:
    names = {name.lower() for name, _ in own}
    return [field for field in all_requests if field[0].lower() not in names] + own


def _form(fields: Fields) -> str:
    return urlencode(list(fields.items()) if isinstance(fields, Mapping) else list(fields), doseq=True)


def _with_params(path: str, params: Optional[Fields]) -> str:
    path = path.partition("#")[0]
    query = _form(params) if params is not None else ""
    if not query:
        return path
    return f"{path}{'&' if '?' in path else '?'}{query}"


def _body(data: Union[str, bytes, Fields, None], json: Any) -> tuple[bytes, Optional[str]]:
    """The body, and its type where that follows from the arguments."""
    if json is not None:
        if data is not None:
            raise ValueError("json: it contradicts data; give one of them")
        return json_module.dumps(json).encode(), "application/json"
    if data is None:
        return b"", None
    if isinstance(data, bytes):
        return data, None
    if isinstance(data, str):
        return data.encode(), None
    return _form(data).encode(), "application/x-www-form-urlencoded"
