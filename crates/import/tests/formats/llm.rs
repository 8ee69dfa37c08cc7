//! Other forms of language model benchmarks, written by hand according to the sources of the tools.

use truetail_model::record::Outcome;
use truetail_run::ForeignStarts;

use crate::{file, recognised, try_import};

/// A result of sglang with `--output-details`, which has no starts.
const SGLANG_DETAILS: &str = r#"{"tag": "", "backend": "sglang", "request_rate": 4.0, "max_concurrency": null, "duration": 2.0,
"completed": 2, "mean_e2e_latency_ms": 150.0, "median_e2e_latency_ms": 150.0, "p99_e2e_latency_ms": NaN,
"input_lens": [1, 1, 1], "output_lens": [2, 2, 0], "ttfts": [0.1, 0.1, 0.0], "itls": [[0.02, 0.03], [0.02, 0.03], []],
"generated_texts": ["a", "b", ""], "errors": ["", "", "timed out"]}"#;

#[test]
fn sglang_with_details_has_requests_without_starts() {
    assert_eq!(recognised(SGLANG_DETAILS.as_bytes()), ["sglang"]);
    let (run, requests) = try_import("sglang", SGLANG_DETAILS.as_bytes()).expect("a document of several lines");
    let durations: Vec<_> = requests.iter().map(|request| (request.start_ns, request.duration.0)).collect();
    assert_eq!(durations, [(None, 150_000_000), (None, 150_000_000)]);
    assert_eq!((run.clock.starts, run.claims.quantile(0.99)), (ForeignStarts::None, None), "NaN is no figure");
    assert_eq!(run.claims.quantile(0.5).map(|claim| claim.value_ns), Some(150_000_000));
    assert_eq!(run.notes, ["requests without a time in the file: 1, which failed or had no token"]);
}

#[test]
fn of_appended_results_a_broken_last_one_is_refused_where_it_begins() {
    let bytes = file("import/by-hand/sglang.jsonl");
    let first = bytes.iter().position(|byte| *byte == b'\n').expect("two lines") + 1;
    let error = try_import("sglang", &bytes[..bytes.len() - 20]).expect_err("cut off").to_string();
    assert!(error.starts_with(&format!("line 2: the last result of the file, from byte {first} on: EOF")), "{error}");
    let run = try_import("sglang", &bytes[..first]).expect("the first").0;
    assert_eq!((run.claims.measured, run.load.rate_per_second), (Some(60), Some(2.0)));
}

/// The form that GuideLLM wrote before version 0.4.
const GUIDELLM_OLD: &str = r#"{"benchmarks": [{"type_": "generative_benchmark", "args": {}, "request_loader": {"type_": "x"},
"metrics": {"request_latency": {"successful": {"mean": 0.2, "max": 0.3, "percentiles": {"p50": 0.2, "p999": 0.3}}}},
"requests": {"successful": [{"start_time": 1795176000.0, "end_time": 1795176000.25}, {"start_time": 1795176001.0}],
"incomplete": [{"start_time": 1795176002.0, "end_time": 1795176002.5}], "errored": []}}]}"#;

#[test]
fn guidellm_of_an_older_version() {
    assert_eq!(recognised(GUIDELLM_OLD.as_bytes()), ["guidellm"]);
    let (run, requests) = try_import("guidellm", GUIDELLM_OLD.as_bytes()).expect("a result");
    let read: Vec<_> = requests.iter().map(|request| (request.duration.0 / 1_000_000, request.outcome)).collect();
    assert_eq!(read, [(250, Outcome::ANSWERED), (500, Outcome::InFlightAtEnd)]);
    assert_eq!(run.claims.quantile(0.999).map(|claim| claim.value_ns), Some(300_000_000));
    assert_eq!((run.claims.requests, run.version), (None, None));
    assert_eq!(run.notes, ["requests without a start or an end in the file: 1"]);
}

#[test]
fn a_result_without_benchmarks_is_refused() {
    let error =
        try_import("guidellm", br#"{"metadata": {"guidellm_version": "0.5.0"}, "benchmarks": []}"#).expect_err("none");
    assert_eq!(error.to_string(), "line 1: the list of benchmarks is empty");
}
