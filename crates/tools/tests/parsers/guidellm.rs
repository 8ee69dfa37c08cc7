//! GuideLLM.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_guidellm_says() {
    check("guidellm", &CASES);
}

pub(crate) const CASES: [Case; 2] = [
    Case {
        folder: "0.8.1/stall",
        stdout: "",
        files: &[("benchmarks.json", "benchmarks.json")],
        says: "measured 12 requests 12 failed 0 dropped - rate 4.000000000000001 mean 199.902078 max 664.075136 | \
               single 0 errors 0 histogram - | p50=127.357244 p90=415.669441 p99=664.075136 p99.9=664.075136 | \
               first of Some(12): p50=35.139322 p90=323.338032 p99=550.80843 p99.9=550.80843 max 550.80843 | \
               gap of Answer: p50=10.18556 p90=10.571374 p99=12.527784 p99.9=12.527784 max 12.527784",
        notes: &["37.9 ms after it was due"],
        ..PLAIN
    },
    Case {
        folder: "0.8.1/stall",
        stdout: "",
        says: "error: benchmarks.json: no benchmarks of GuideLLM; exit code 0",
        ..PLAIN
    },
];
