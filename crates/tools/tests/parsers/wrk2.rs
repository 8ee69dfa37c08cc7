//! The parser of wrk2.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_wrk2_says() {
    check("wrk2", &CASES);
}

pub(crate) const CASES: [Case; 14] = [
    Case {
        folder: "4.0.0/healthy",
        says: "measured 600 requests 602 failed 0 dropped - rate 100.13 mean 11.219 max 12.136 | \
               single 0 errors 0 histogram 600 | \
               p50=11.14 p75=11.41 p90=11.82 p99=12.06 p99.9=12.13 p99.99=12.14 p99.999=12.14",
        ..PLAIN
    },
    Case {
        folder: "4.0.0/healthy",
        stdout: "u-latency.txt",
        says: "measured 600 requests 602 failed 0 dropped - rate 100.14 mean 11.131 max 12.64 | \
               single 0 errors 0 histogram 600 | \
               p50=11.06 p75=11.38 p90=11.69 p99=12.03 p99.9=12.11 p99.99=12.65 p99.999=12.65",
        ..PLAIN
    },
    Case {
        folder: "4.0.0/stall",
        says: "measured 600 requests 602 failed 0 dropped - rate 100.16 mean 113.962 max 1001.472 | \
               single 0 errors 0 histogram 600 | \
               p50=11.49 p75=11.86 p90=505.09 p99=952.32 p99.9=1000 p99.99=1000 p99.999=1000",
        ..PLAIN
    },
    Case {
        folder: "4.0.0/stall",
        stdout: "u-latency.txt",
        says: "measured 600 requests 602 failed 0 dropped - rate 100.16 mean 113.861 max 1001.472 | \
               single 0 errors 0 histogram 600 | \
               p50=11.53 p75=11.86 p90=504.58 p99=951.81 p99.9=1000 p99.99=1000 p99.999=1000",
        ..PLAIN
    },
    Case {
        folder: "4.0.0/errors",
        says: "measured 600 requests 602 failed 86 dropped - rate 100.15 mean 10.404 max 12.424 | \
               single 0 errors 0 histogram 600 | \
               p50=11.06 p75=11.36 p90=11.67 p99=11.9 p99.9=12.42 p99.99=12.43 p99.999=12.43",
        ..PLAIN
    },
    Case {
        folder: "4.0.0/errors",
        stdout: "u-latency.txt",
        says: "measured 600 requests 602 failed 86 dropped - rate 100.15 mean 10.487 max 12.336 | \
               single 0 errors 0 histogram 600 | \
               p50=11.26 p75=11.64 p90=11.81 p99=12.13 p99.9=12.26 p99.99=12.34 p99.999=12.34",
        ..PLAIN
    },
    Case {
        folder: "4.0.0/timeouts",
        says: "measured 114 requests 114 failed 0 dropped - rate 18.94 mean 11.012 max 11.728 | \
               single 0 errors 0 histogram 114 | \
               p50=11.03 p75=11.25 p90=11.47 p99=11.68 p99.9=11.73 p99.99=11.73 p99.999=11.73",
        notes: &["15 timeouts"],
        ..PLAIN
    },
    Case {
        folder: "4.0.0/timeouts",
        stdout: "u-latency.txt",
        says: "measured 114 requests 114 failed 0 dropped - rate 18.95 mean 11.012 max 12.128 | \
               single 0 errors 0 histogram 114 | \
               p50=11.02 p75=11.27 p90=11.41 p99=11.59 p99.9=12.14 p99.99=12.14 p99.999=12.14",
        notes: &["15 timeouts"],
        ..PLAIN
    },
    Case {
        folder: "4.0.0/refused",
        stdout: "",
        stderr: Some("stderr.txt"),
        exit: 1,
        says: "error: stdout: no report of wrk2; exit code 1; it printed: unable to connect to 127.0.0.1:18250 \
               Connection refused",
        ..PLAIN
    },
    Case {
        folder: "4.0.0/cut-off",
        says: "error: stdout: the report stops before its last line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "4.0.0/stall-over-timeout",
        says: "measured 600 requests 602 failed 0 dropped - rate 100.15 mean 241.056 max 1500.16 | \
               single 0 errors 0 histogram 600 | \
               p50=11.85 p75=261.76 p90=1010 p99=1450 p99.9=1500 p99.99=1500 p99.999=1500",
        notes: &["6 timeouts"],
        ..PLAIN
    },
    Case {
        folder: "4.0.0/stall-late",
        says: "measured 498 requests 1502 failed 0 dropped - rate 100.06 mean 135.029 max 1000.96 | \
               single 0 errors 0 histogram 498 | \
               p50=11.49 p75=12.5 p90=599.04 p99=991.23 p99.9=1000 p99.99=1000 p99.999=1000",
        notes: &["first 10 s are calibration"],
        ..PLAIN
    },
    Case {
        folder: "4.0.0/stall-late",
        stdout: "u-latency.txt",
        says: "measured 498 requests 1502 failed 0 dropped - rate 100.06 mean 135.369 max 1001.984 | \
               single 0 errors 0 histogram 498 | \
               p50=11.78 p75=14.77 p90=600.06 p99=991.74 p99.9=1000 p99.99=1000 p99.999=1000",
        notes: &["first 10 s are calibration"],
        ..PLAIN
    },
    Case {
        folder: "4.0.0/unanswered",
        says: "measured 0 requests 0 failed 0 dropped - rate 0 mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["4 timeouts"],
        ..PLAIN
    },
];
