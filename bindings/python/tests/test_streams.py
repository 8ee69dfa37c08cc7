"""``truetail.run`` reads answers as streams, and as those of language models."""

import socket
from pathlib import Path
from typing import Any

import numpy
import pytest

import truetail

BODY = '{"model": "m", "prompt": "Hi", "max_tokens": 5}'
LOAD: dict[str, Any] = {"rate": 50, "duration": "200ms"}


def url(server: truetail.Server, path: str) -> str:
    return f"http://{server.host}:{server.port}{path}"


def value_at(distribution: dict[str, Any], q: float) -> int:
    """A quantile of a distribution in run.json."""
    (value,) = [quantile["value_ns"] for quantile in distribution["quantiles"] if quantile["q"] == q]
    return int(value)


def test_streams_have_their_books() -> None:
    with truetail.serve(baseline="1ms") as server:
        options: dict[str, Any] = {"stream": "sse", "stall": "40ms", "fail_if": ["incomplete-streams > 1%", "event-gap max > 1h"]}
        result = truetail.run(url(server, "/stream?events=5&gap=1ms&stall=2:50ms"), **LOAD, **options)
        plain = truetail.run(server.url, **LOAD)
    streams = result.streams
    assert streams is not None
    assert streams["tally"]["complete"] == streams["tally"]["planned"] == 10
    # Where the machine holds both ends up, events that came apart are read together.
    assert streams["events"] == 50 and streams["stalls"] + streams["coalesced_gaps"] >= 10
    assert [gate.state for gate in result.gates] == ["holds", "holds"]
    assert plain.streams is None and plain.count == 10
    first = streams["first_event_time"]
    assert result.quantile_ns(0.5, "first_event_time") == result.quantile_ns(0.5, "first-event") == value_at(first, 0.5)
    assert result.quantile(1, "last_event_time") == result.quantile(1, "e2e") == streams["last_event_time"]["max_ns"] / 1e9
    assert result.quantile_info(0.5, "event-gap").value_ns == value_at(streams["event_gap"], 0.5)
    assert sum(result.hist("event_gap").count) == streams["event_gap"]["count"] and sum(result.hist("first-event").count) == 10
    with pytest.raises(ValueError, match=r"^metric: this run has no 'ttft'; it is about answers of a language model: .*llm="):
        result.quantile(0.5, "ttft")
    with pytest.raises(ValueError, match=r"^metric: this run has no 'push_delay'; .*stamp="):
        result.hist("push_delay")
    with pytest.raises(ValueError, match=r"^metric: this run has no 'event-gap'; .*stream='sse'"):
        plain.quantile_info(0.5, "event-gap")


def test_chunks_of_any_answer_are_events() -> None:
    with truetail.serve(baseline="1ms") as server:
        streams = truetail.run(url(server, "/stream?events=3&gap=5ms"), **LOAD, stream="chunks").streams
    assert streams is not None and streams["kind"] == "chunks" and streams["tally"]["complete"] == 10


def test_a_language_model_is_asked_for_a_stream_and_its_tokens() -> None:
    with truetail.serve("06-model-that-stalls") as server:
        options: dict[str, Any] = {"llm": "openai-completions", "slo": ["ttft < 1h", "e2e < 1ns"], "data": BODY}
        result = truetail.run(url(server, "/v1/completions"), **LOAD, **options, fail_if=["ttft p50 > 1ns", "tpot p50 > 1h"])
    streams, notebook = result.streams, result._repr_html_()
    assert streams is not None
    shown = ("TTFT", "Goodput", "50 output tokens in 10 answers", "</b> ttft p50 &gt; 1ns: ")
    assert [text for text in shown if text not in notebook] == []
    assert (streams["tokens"], streams["end_mark"]) == (50, "[DONE]")
    assert [each["met"] for each in streams["llm"]["slo"]["each"]] == [10, 0]
    assert streams["goodput"]["met"] == 0
    names = {"ttft": "first_content_time", "itl": "content_gap", "tpot": "time_per_output_token"}
    for name, in_run_json in [*names.items(), *((long, long) for long in names.values())]:
        assert result.quantile_ns(0.5, name) == value_at(streams[in_run_json], 0.5)  # type: ignore[arg-type]
        assert sum(result.hist(name).count) == streams[in_run_json]["count"]  # type: ignore[arg-type]
    assert result.quantile_ns(0.5, "first_content_service_time") == value_at(streams["first_content_service_time"], 0.5)


def test_each_answer_has_its_row(tmp_path: Path) -> None:
    with truetail.serve("06-model-that-stalls") as server:
        result = truetail.run(url(server, "/v1/completions"), **LOAD, llm="openai-completions", data=BODY)
    streams = result.streams
    assert streams is not None
    samples = result.to_numpy()
    ttft = samples["first_content_ns"] - samples["intended_start_ns"]
    assert (ttft.min(), ttft.max()) == tuple(streams["first_content_time"][end] for end in ("min_ns", "max_ns"))
    assert samples["output_tokens"].sum() == streams["tokens"] and numpy.isnan(samples["cached_tokens"]).all()
    assert set(samples["stream"]) == {"complete"} and set(samples["finish"]) == {"length"}
    frame = result.to_pandas()
    assert frame["output_tokens"].dtype == "Int64" and frame["cached_tokens"].isna().all()
    assert list(frame["finish"].cat.categories) == ["length"]
    gaps = [gap for gaps in frame["gaps_ns"] for gap in gaps]
    assert len(gaps) == frame["gaps"].sum() == streams["content_gap"]["count"]
    assert (min(gaps), max(gaps)) == tuple(streams["content_gap"][end] for end in ("min_ns", "max_ns"))
    result.save(tmp_path / "run")
    loaded = truetail.load(tmp_path / "run")
    assert loaded.to_numpy().tobytes() == samples.tobytes() and list(loaded.to_pandas()["gaps_ns"]) == list(frame["gaps_ns"])


def test_embeddings_come_whole() -> None:
    with truetail.serve(baseline="1ms") as server:
        options: dict[str, Any] = {"llm": "embeddings", "slo": ["e2e < 1h"], "data": '{"input": ["a b", "c"]}'}
        result = truetail.run(url(server, "/v1/embeddings"), **LOAD, **options, fail_if=["goodput < 100%"])
    streams, notebook = result.streams, result._repr_html_()
    assert streams is not None
    assert (streams["llm"]["tokens"]["input"], streams["tokens"], streams["goodput"]["met"]) == (30, None, 10)
    assert "30 input tokens in 10 answers" in notebook and "TTFT" not in notebook
    assert result.quantile_ns(0.5, "e2e") == value_at(streams["last_event_time"], 0.5)
    for name in ("ttft", "tpot", "itl", "event-gap", "first_content_service_time"):
        with pytest.raises(ValueError, match=f"no '{name}'; its answers come whole"):
            result.quantile(0.5, name)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"stream": "lines"}, "stream: there is no 'lines'; choose one of 'sse', 'chunks'"),
        ({"llm": "openai"}, "llm: there is no 'openai'"),
        ({"stall": "1s"}, "stall: it is about streams"),
        ({"slo": ["ttft < 1s"]}, "slo: it is about answers of language models"),
        ({"llm": "openai-chat", "data": "{}", "slo": ["p99 < 1s"]}, "slo: 'p99 < 1s' cannot be decided"),
        ({"stream": "chunks", "llm": "openai-chat", "data": "{}"}, "llm: it is about server-sent events"),
        ({"stream": "chunks", "end_mark": "x"}, "end_mark: it is about server-sent events"),
        ({"llm": "embeddings", "data": "{}", "slo": ["ttft < 1s"]}, "slo: 'ttft < 1s' needs answers that come token by token"),
        ({"llm": "rerank", "data": "{}", "fail_if": ["itl p50 > 1s"]}, "fail_if: 'itl p50 > 1s' needs answers that come in pieces"),
        ({"llm": "rerank", "data": "{}", "stall": "1s"}, "stall: it is about answers in pieces"),
        ({"stream": "sse", "idle_timeout": 0}, "idle_timeout: it is zero"),
        ({"llm": "openai-chat", "data": "Hi"}, "llm: "),
        ({"fail_if": ["event-gap p99 > 1s"]}, "fail_if: "),
    ],
)
def test_what_contradicts_itself_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=r"^") as raised:
        truetail.run("http://127.0.0.1:1/", **LOAD, **options)
    assert problem in str(raised.value)


def test_a_server_that_is_not_there_is_found_before_the_load() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ConnectionError, match="cannot connect"):
        truetail.run(f"http://127.0.0.1:{port}/stream", **LOAD, stream="sse")
