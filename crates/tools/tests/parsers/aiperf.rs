//! The parser of AIPerf.

use truetail_tools::ToolOutput;

use crate::support::{Case, PLAIN, check, parse};

#[test]
fn what_aiperf_says() {
    check("aiperf", &CASES);
}

pub(crate) const CASES: [Case; 2] = [
    Case {
        folder: "0.13.0/stall",
        stdout: "",
        files: &[("profile_export_aiperf.json", "profile_export_aiperf.json")],
        says: "measured 11 requests 11 failed 0 dropped - rate 3.648090649878993 mean 158.105472 max 405.82115 | single 0 \
               errors 0 histogram - | p50=130.912232 p90=163.076895 p99=381.546725 | first of Some(11): p50=38.863545 \
               p90=74.879926 p99=292.489091 max 316.667887 | gap of Event: p50=10.253176 p90=14.487057 p99=19.204761 max \
               20.191484",
        notes: &["its ITL, the mean gap of each answer, is 9.9 ms at p50 and 10.7 ms at p99"],
        ..PLAIN
    },
    Case {
        folder: "0.13.0/stall",
        stdout: "",
        says: "error: profile_export_aiperf.json: no summary of AIPerf; exit code 0",
        ..PLAIN
    },
];

#[test]
fn a_summary_without_a_count_measured_nobody_knows_how_many() {
    let measured = |first: &str| {
        let text = format!(r#"{{"aiperf_version": "0.13.0", "request_count": {{"avg": 3.0}}{first}}}"#);
        let files = [("profile_export_aiperf.json".to_owned(), text.into_bytes())].into();
        let output = ToolOutput { stdout: Vec::new(), stderr: Vec::new(), exit_code: Some(0), files };
        parse("aiperf", &output).expect("a summary").streams.expect("of streams").measured
    };
    assert_eq!(measured(r#", "time_to_first_token": {"avg": 9.0, "p50": 9.0}"#), None);
    assert_eq!(measured(r#", "time_to_first_token": {"avg": 9.0, "count": 2}"#), Some(2));
    assert_eq!(measured(""), Some(0));
}
