//! inference-perf.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_inference_perf_says() {
    check("inference-perf", &CASES);
}

pub(crate) const CASES: [Case; 2] = [
    Case {
        folder: "0.7.0/stall",
        stdout: "",
        files: &[("summary_lifecycle_metrics.json", "summary_lifecycle_metrics.json")],
        says: "",
        ..PLAIN
    },
    Case {
        folder: "0.7.0/stall",
        stdout: "",
        says: "error: summary_lifecycle_metrics.json: no summary of inference-perf; exit code 0",
        ..PLAIN
    },
];
