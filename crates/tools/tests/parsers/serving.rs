//! vLLM's `bench serve`, and sglang's bench_serving.

use truetail_tools::ToolOutput;

use crate::support::{Case, PLAIN, check, parse};

#[test]
fn what_sglang_says() {
    check("sglang", &SGLANG);
}

pub(crate) const SGLANG: [Case; 2] = [
    Case {
        folder: "0.5.9/stall",
        stdout: "",
        files: &[("results.jsonl", "results.jsonl")],
        says: "measured 80 requests 80 failed 0 dropped - rate 18.015384554259573 mean 1307.559653 max - | single 0 errors 0 \
               histogram - | p50=1281.04506 p90=1683.72574 p99=1971.247933 | first of Some(80): p50=87.277881 \
               p99=473.895786 max 478.680737 | gap of Event: p50=16.779241 p95=57.133972 p99=152.049359 max 153.303432",
        ..PLAIN
    },
    Case {
        folder: "0.5.9/stall",
        stdout: "",
        says: "error: results.jsonl: no result of the benchmark; exit code 0",
        ..PLAIN
    },
];

#[test]
fn what_vllm_says() {
    check("vllm", &VLLM);
    check("vllm-max-concurrency", &VLLM_LIMITED);
}

pub(crate) const VLLM: [Case; 2] = [
    Case {
        folder: "0.32.0/stall",
        stdout: "",
        files: &[("results.json", "results.json")],
        says: "measured 80 requests 80 failed 0 dropped - rate 19.23520247797054 mean 301.967353 max - | single 0 errors 0 \
               histogram - | p50=241.140937 p90=555.561735 p99=900.383072 | first of Some(80): p50=41.850237 \
               p99=534.542662 max 573.348999 | gap of Event: p50=10.923165 p95=34.012505 p99=52.886048 max 92.357523",
        ..PLAIN
    },
    Case {
        folder: "0.32.0/stall",
        stdout: "",
        says: "error: results.json: no result of the benchmark; exit code 0",
        ..PLAIN
    },
];

/// Times start after the wait for the limit.
pub(crate) const VLLM_LIMITED: [Case; 1] = [Case {
    folder: "0.32.0/stall",
    stdout: "",
    files: &[("results.json", "results.json")],
    says: "measured 80 requests 80 failed 0 dropped - rate 18.23757692470909 mean 255.724065 max - | single 0 errors 0 \
           histogram - | p50=241.486044 p90=247.856121 p99=593.626044 | first of Some(80): p50=44.553837 p99=472.840082 max \
           512.308638 | gap of Event: p50=10.951402 p95=31.411036 p99=32.709323 max 91.298458",
    ..PLAIN
}];

#[test]
fn what_it_does_not_say_is_absent() {
    let report = |text: &str| {
        let files = [("results.jsonl".to_owned(), text.as_bytes().to_vec())].into();
        parse("sglang", &ToolOutput { stdout: Vec::new(), stderr: Vec::new(), exit_code: Some(0), files })
    };
    // Results are appended, so the last one is that of this run. Without details, the number of failures is unknown.
    let summary = report("{\"completed\": 1}\n{\"completed\": 3, \"p99_ttft_ms\": 2.5}\n").expect("a result");
    let (claims, streams) = (summary.claims, summary.streams.expect("of streams"));
    assert_eq!((claims.measured, claims.requests, claims.failed), (Some(3), None, None));
    assert_eq!((streams.first_at(0.99).map(|claimed| claimed.value_ns), streams.first_max_ns), (Some(2_500_000), None));
    let failed =
        report("{\"completed\": 1, \"ttfts\": [0.5, 0.0], \"errors\": [\"\", \"Traceback\"]}").expect("a result");
    assert_eq!((failed.claims.requests, failed.claims.failed), (Some(2), Some(1)));
    assert_eq!(failed.streams.expect("of streams").first_max_ns, Some(500_000_000));
    assert!(report("{\"completed\": 1").is_err() && report("").is_err());
}
