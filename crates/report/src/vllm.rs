//! A run of a language model under the names of `vllm bench serve --save-result`, for scripts that read its files.
//! Figures and lists that are not known are left out.

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use truetail_analysis::figures::quantile_name;
use truetail_analysis::planned_streams_per_second;
use truetail_model::record::CompactHistogram;
use truetail_run::{Distribution, Findings, LlmApi, LlmFacts, LlmFindings, Run, StreamFacts, StreamTime};

use crate::hgrm::spread;
use crate::json::pretty_json;
use crate::vllm_lists::lists;

const MS: f64 = 1e6;

/// Returns the document; `None` if answers were not read as answers of a language model.
pub fn vllm_json(run: &Run, findings: &Findings) -> Option<String> {
    let streams = run.facts.stream.as_ref()?;
    let llm = streams.llm.as_ref()?;
    let found = findings.stream.as_ref()?.llm.as_ref()?;
    let mut document = Map::new();
    let mut put = |name: &str, value: Value| drop(document.insert(name.to_owned(), value));
    put("backend", backend(llm.reading.api).into());
    put("num_prompts", streams.tally.planned.into());
    let planned = planned_streams_per_second(run, findings.offered_per_second).filter(|rate| rate.is_finite());
    planned.into_iter().for_each(|rate| put("request_rate", rate.into()));
    let seconds = run.snapshot.last_end.since(run.snapshot.measure_from).as_secs_f64();
    counts(streams, llm, seconds).into_iter().for_each(|(name, value)| put(name, value));
    goodput(found, seconds).into_iter().for_each(|value| put("request_goodput", value));
    for (name, times, values) in distributions(streams, llm, findings, found) {
        figures(times, values).into_iter().for_each(|(figure, ms)| put(&format!("{figure}_{name}_ms"), ms.into()));
    }
    lists(run, streams).into_iter().for_each(|(name, list)| put(name, list));
    // A line for each figure, and one for each list.
    let lines: BTreeMap<String, Option<Box<RawValue>>> =
        document.into_iter().map(|(name, value)| (name, to_raw_value(&value).ok())).collect();
    Some(pretty_json(&lines))
}

fn backend(api: LlmApi) -> &'static str {
    match api {
        LlmApi::OpenaiChat => "openai-chat",
        LlmApi::OpenaiCompletions => "openai",
        LlmApi::Embeddings => "openai-embeddings",
        LlmApi::Rerank => "vllm-rerank",
        other => other.name(),
    }
}

/// Returns counts of requests and tokens, and their rates over `seconds`.
fn counts(streams: &StreamFacts, llm: &LlmFacts, seconds: f64) -> Vec<(&'static str, Value)> {
    let completed = streams.tally.complete;
    let by_client = llm.by_client.as_ref().filter(|client| client.counted > 0);
    let output = llm.output_tokens().filter(|_| completed > 0);
    let input = llm.input_tokens().filter(|_| completed > 0);
    let rate = |count: Option<u64>| count.filter(|_| seconds > 0.0).map(|count| count as f64 / seconds);
    let all = match llm.reading.api.has_output() {
        false => input,
        true => output.zip(input).map(|(output, input)| output.saturating_add(input)),
    };
    let numbers = [
        ("completed", Some(completed.into())),
        ("failed", Some((streams.tally.planned - completed.min(streams.tally.planned)).into())),
        ("duration", Some(seconds.into())),
        ("total_input_tokens", input.map(Value::from)),
        ("total_output_tokens", output.map(Value::from)),
        ("truetail_tokenizer", by_client.map(|client| client.tokenizer.clone().into())),
        ("truetail_output_tokens_by_tokenizer", by_client.map(|client| client.output.into())),
        ("request_throughput", rate(Some(completed)).map(Value::from)),
        ("output_throughput", rate(output).map(Value::from)),
        ("total_token_throughput", rate(all).map(Value::from)),
    ];
    numbers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Returns null without objectives, like vLLM, and nothing if goodput is a range.
fn goodput(found: &LlmFindings, seconds: f64) -> Option<Value> {
    match &found.goodput {
        None => Some(Value::Null),
        Some(goodput) if goodput.cannot_tell == 0 && seconds > 0.0 => Some((goodput.met as f64 / seconds).into()),
        Some(_) => None,
    }
}

type Named<'a> = (&'static str, Distribution, &'a CompactHistogram);

fn distributions<'a>(
    streams: &'a StreamFacts,
    llm: &LlmFacts,
    findings: &Findings,
    found: &LlmFindings,
) -> Vec<Named<'a>> {
    let of = |time: StreamTime| streams.times.get(time);
    let last = findings.stream.as_ref().map(|streams| streams.last_event_time.clone()).unwrap_or_default();
    let figures = [
        (llm.unmeasured.first_content, ("ttft", &found.first_content_time, StreamTime::FirstContent)),
        (llm.unmeasured.gaps, ("itl", &found.content_gap, StreamTime::ContentGap)),
        (0, ("e2el", &last, StreamTime::LastEvent)),
        (
            llm.tokens.unknown_time_per_output_token,
            ("tpot", &found.time_per_output_token, StreamTime::TimePerOutputToken),
        ),
    ];
    // Over only some answers, a figure would be misleading.
    let known = figures.into_iter().filter(|(unknown, _)| *unknown == 0);
    known.map(|(_, (name, times, values))| (name, times.clone(), of(values))).collect()
}

/// Returns mean, deviation, median and percentiles in milliseconds, if known. Mean and deviation need all values.
fn figures(times: Distribution, values: &CompactHistogram) -> Vec<(String, f64)> {
    let all_known = times.censored + times.failed == 0 && values.count() > 0;
    let (mean, deviation) = spread(&values.to_histogram());
    let whole = [("mean".to_owned(), mean), ("std".to_owned(), deviation)];
    let known = times.quantiles.iter().filter(|quantile| quantile.supported && !quantile.at_least && quantile.q < 1.0);
    let percentiles = known.filter_map(|quantile| {
        let name = if quantile.q == 0.5 { "median".to_owned() } else { quantile_name(quantile.q) };
        Some((name, quantile.value_ns? as f64 / MS))
    });
    whole.into_iter().filter(|_| all_known).chain(percentiles).collect()
}
