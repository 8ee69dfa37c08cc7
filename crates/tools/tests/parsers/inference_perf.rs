//! The parser of inference-perf.

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
        says: "measured 12 requests 12 failed 0 dropped - rate 5.430946771329292 mean 177.831718 max 459.943129 | single 0 \
               errors 0 histogram - | p50=144.516216 p90=252.174879 p99=438.216929 p99.9=457.770509 | first of None: \
               p50=42.123204 p90=122.872882 p99=373.049994 p99.9=400.028152 max 403.025725 | gap of Event: p50=10.223914 \
               p90=21.547949 p99=32.021043 p99.9=60.330595 max 63.715262",
        notes: &["it sent the latest request 76.3 ms after it was due"],
        ..PLAIN
    },
    Case {
        folder: "0.7.0/stall",
        stdout: "",
        says: "error: summary_lifecycle_metrics.json: no summary of inference-perf; exit code 0",
        ..PLAIN
    },
];
