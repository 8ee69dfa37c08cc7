"""Types of arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Literal, Optional, TypedDict, Union

Time = Union[str, float, timedelta]
"""``"500us"``, ``"10ms"``, ``"1.5s"``, ``"1m30s"``; a number of seconds; or a ``timedelta``."""

Rate = Union[float, str]
"""Requests per second, ``"1.5k"``, ``"10rps"``, ``"60/m"``; or a rate profile: ``"steps:100/10s,500/10s"``,
``"ramp:100..2000/60s"``, ``"sine:500..1500/60s"``, ``"trace:FILE"`` with an arrival time in seconds per line."""

Spacing = Union[Literal["even", "poisson"], str]
"""``"even"``, ``"poisson"``, or ``"gamma:SHAPE"`` with a shape from 0.05 to 100: bursts below 1."""

Model = Literal["open", "closed", "partly-open"]
Waiting = Literal["sleep", "spin"]
Feed = Literal["in-order", "random"]
StreamKind = Literal["sse", "chunks"]
LlmApi = Literal[
    "openai-chat",
    "openai-completions",
    "openai-responses",
    "anthropic",
    "gemini",
    "ollama",
    "tgi",
    "llamacpp",
    "sglang",
    "embeddings",
    "rerank",
    "whole",
]
StampUnit = Literal["ns", "us", "ms", "s"]
HeadersLike = Union[Mapping[str, str], Iterable[tuple[str, str]]]
Path = Union[str, "os.PathLike[str]"]
State = Literal["VALID", "SUSPECT", "INVALID"]
Metric = Literal[
    "response_time",
    "censored",
    "failed",
    "service_time",
    "start_delay",
    "generator_lag",
    "connection_wait",
    "connect_time",
    "read_lag",
    "tls_handshake_time",
    "first_byte_time",
    "send_wait",
    "without_generator",
    "first_event_time",
    "first-event",
    "last_event_time",
    "e2e",
    "event_gap",
    "event-gap",
    "longest_gap",
    "longest-gap",
    "push_delay",
    "first_content_time",
    "ttft",
    "first_content_service_time",
    "content_gap",
    "itl",
    "time_per_output_token",
    "tpot",
]
"""A time of requests, or of streams, by its name in run.json or in gates."""


class _RareBooks(TypedDict, total=False):
    close_codes: dict[str, int]
    """Channels that a WebSocket's server closed, by its code."""
    call_statuses: dict[str, int]
    """Channels over gRPC that the server ended, by the name of the status."""
    channels_failed_before: dict[str, int]
    """Channels that could not be opened before the load, by cause."""
    channels_late: int
    """Channels that were not open in time for the load."""


class MessageBooks(_RareBooks):
    """The books of messages besides their replies."""

    unmatched: int
    doubled: int
    pushes: int
    late: int
    error_replies: int
    channels_lost: int
    channels_opened_before: int
    """Channels that were opened before the load."""


class LabelTimes(TypedDict):
    """Measured answers with a label, and their response times in seconds; ``None`` where the sample is too small."""

    calls: int
    p50: Optional[float]
    p99: Optional[float]
    max: Optional[float]


class GrpcBooks(TypedDict):
    """The books of gRPC calls."""

    statuses: dict[str, int]
    """Calls by the name of their status, such as ``OK`` and ``UNAVAILABLE``."""
