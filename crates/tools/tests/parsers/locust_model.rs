//! The parser of Locust against a language model.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_locust_says_of_streams() {
    check("locust-llm", &CASES);
}

pub(crate) const CASES: [Case; 2] = [
    Case {
        folder: "2.47.0/stall",
        stdout: "",
        stderr: Some("stderr.txt"),
        files: &[("samples.csv", "samples.csv"), ("gaps.csv", "gaps.csv")],
        says: "measured 8 requests 8 failed 0 dropped - rate - mean - max - | single 8 errors 0 histogram - | \
               p50=145.975* p90=571.168* p99=571.168* p99.9=571.168* p99.99=571.168* | first of Some(8): p50=52.224* \
               p90=457.443* p99=457.443* p99.9=457.443* p99.99=457.443* max 457.443 | gap of Event: p50=10.293* \
               p90=19.882* p99=105.915* p99.9=105.915* p99.99=105.915* max 105.915",
        ..PLAIN
    },
    Case { folder: "2.47.0/stall", stdout: "", says: "error: samples.csv: no samples of Locust; exit code 0", ..PLAIN },
];
