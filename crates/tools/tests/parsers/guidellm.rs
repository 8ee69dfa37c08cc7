//! The parser of GuideLLM.

use truetail_tools::{ToolOutput, ToolReport};

use crate::support::{Case, PLAIN, check, parse};

#[test]
fn what_guidellm_says() {
    check("guidellm", &CASES);
}

pub(crate) const CASES: [Case; 2] = [
    Case {
        folder: "0.8.1/stall",
        stdout: "",
        files: &[("benchmarks.json", "benchmarks.json")],
        says: "measured 12 requests 13 failed 0 dropped - rate 4.000000000000001 mean 199.902078 max 664.075136 | \
               single 0 errors 0 histogram - | p0.1=125.475645 p1=125.475645 p5=125.475645 p10=125.547409 p25=125.610352 \
               p50=127.357244 p75=129.472256 p90=415.669441 p95=664.075136 p99=664.075136 p99.9=664.075136 | first of \
               Some(12): p0.1=33.320427 p1=33.320427 p5=33.320427 p10=33.380747 p25=33.458233 p50=35.139322 p75=46.52524 \
               p90=323.338032 p95=550.80843 p99=550.80843 p99.9=550.80843 max 550.80843 | gap of Answer: p0.1=8.707311 \
               p1=8.707311 p5=8.707311 p10=10.156261 p25=10.164552 p50=10.18556 p75=10.19152 p90=10.571374 p95=12.527784 \
               p99=12.527784 p99.9=12.527784 max 12.527784",
        notes: &["it cancelled 1 request that was under way at its end", "37.9 ms after it was due"],
        ..PLAIN
    },
    Case {
        folder: "0.8.1/stall",
        stdout: "",
        says: "error: benchmarks.json: no benchmarks of GuideLLM; exit code 0",
        ..PLAIN
    },
];

/// Returns a result with these totals, followed by these requests.
fn result(totals: &str, requests: &str) -> ToolReport {
    let text = format!(
        r#"{{"metadata": {{"guidellm_version": "0.8.1"}}, "benchmarks": [{{"metrics": {{"request_totals": {totals}}}{requests}}}]}}"#
    );
    let files = [("benchmarks.json".to_owned(), text.into_bytes())].into();
    let output = ToolOutput { stdout: Vec::new(), stderr: Vec::new(), exit_code: Some(0), files };
    parse("guidellm", &output).expect("a result")
}

/// Three requests were cancelled: one began inside the measured range, one after it, and one not at all.
#[test]
fn what_it_cancelled_has_not_failed() {
    let totals = r#"{"successful": 7, "errored": 2, "incomplete": 1, "total": 10}"#;
    let listed = r#", "requests": {"incomplete": [{"request_start_time": 1.0}, {"request_start_time": 2.0},
        {"request_start_time": null}]}"#;
    let report = result(totals, listed);
    let claims = &report.claims;
    assert_eq!((claims.measured, claims.requests, claims.failed), (Some(7), Some(11), Some(2)));
    assert_eq!(report.notes, ["it cancelled 2 requests that were under way at its end"]);
    let report = result(totals, "");
    assert_eq!((report.claims.requests, report.claims.failed), (Some(10), Some(2)));
    assert_eq!(report.notes, ["it cancelled at least 1 request that was under way at its end"]);
}
