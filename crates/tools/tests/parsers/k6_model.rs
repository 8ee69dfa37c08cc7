//! The parser of k6 against a language model.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_k6_says_of_streams() {
    check("k6-llm", &CASES);
}

pub(crate) const CASES: [Case; 2] = [
    Case {
        folder: "1.8.1/stall",
        stdout: "",
        files: &[("samples.csv", "samples.csv"), ("summary.json", "summary.json")],
        says: "measured 13 requests 13 failed 0 dropped - rate 4.15227862065767 mean 185.171582 max 589.577262 | \
               single 13 errors 0 histogram - | p50=125.980109 p90=310.312382 p99=559.572272 p99.9=586.576763 \
               p99.99=589.277212 | first of Some(13): p50=2.218946* p90=6.538803* p99=17.306386* p99.9=17.306386* \
               p99.99=17.306386* max 17.306386 | gap of Event: max -",
        ..PLAIN
    },
    Case {
        folder: "1.8.1/stall",
        stdout: "",
        says: "error: stdout: no samples and no summary of k6; exit code 0",
        ..PLAIN
    },
];
