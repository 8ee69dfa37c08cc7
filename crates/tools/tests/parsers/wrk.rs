//! The parser of wrk.

use crate::support::{Case, PLAIN, check};

#[test]
fn what_wrk_says() {
    check("wrk", &CASES);
}

pub(crate) const CASES: [Case; 13] = [
    Case {
        folder: "4.1.0/healthy",
        says: "measured - requests 714 failed 0 dropped - rate 118.92 mean 50.42 max 51.4 | \
               single 0 errors 0 histogram - | \
               p50=50.39 p75=50.44 p90=50.53 p99=51",
        notes: &["does not say how many"],
        ..PLAIN
    },
    Case {
        folder: "4.1.0/healthy",
        stdout: "no-latency.txt",
        says: "measured - requests 708 failed 0 dropped - rate 117.93 mean 50.48 max 53.77 | \
               single 0 errors 0 histogram - |",
        notes: &["does not say how many"],
        ..PLAIN
    },
    Case {
        folder: "4.1.0/stall",
        says: "measured - requests 594 failed 0 dropped - rate 98.91 mean 123.23 max 1020 | \
               single 0 errors 0 histogram - | \
               p50=50.54 p75=50.72 p90=356.19 p99=962.79",
        notes: &["does not say how many"],
        ..PLAIN
    },
    Case {
        folder: "4.1.0/stall",
        stdout: "no-latency.txt",
        says: "measured - requests 594 failed 0 dropped - rate 98.85 mean 122.77 max 1020 | \
               single 0 errors 0 histogram - |",
        notes: &["does not say how many"],
        ..PLAIN
    },
    Case {
        folder: "4.1.0/errors",
        says: "measured - requests 763 failed 109 dropped - rate 127.06 mean 47.06 max 52.26 | \
               single 0 errors 0 histogram - | \
               p50=50.69 p75=50.83 p90=50.98 p99=51.19",
        notes: &["does not say how many"],
        ..PLAIN
    },
    Case {
        folder: "4.1.0/errors",
        stdout: "no-latency.txt",
        says: "measured - requests 763 failed 109 dropped - rate 127.06 mean 46.87 max 51.27 | \
               single 0 errors 0 histogram - |",
        notes: &["does not say how many"],
        ..PLAIN
    },
    Case {
        folder: "4.1.0/timeouts",
        says: "measured - requests 114 failed 0 dropped - rate 18.97 mean 50.43 max 51.3 | \
               single 0 errors 0 histogram - | \
               p50=50.41 p75=50.5 p90=50.59 p99=51.28",
        notes: &["does not say how many"],
        ..PLAIN
    },
    Case {
        folder: "4.1.0/timeouts",
        stdout: "no-latency.txt",
        says: "measured - requests 114 failed 0 dropped - rate 18.98 mean 50.44 max 51.28 | \
               single 0 errors 0 histogram - |",
        notes: &["does not say how many"],
        ..PLAIN
    },
    Case {
        folder: "4.1.0/refused",
        stdout: "",
        stderr: Some("stderr.txt"),
        exit: 1,
        says: "error: stdout: no report of wrk; exit code 1; it printed: unable to connect to 127.0.0.1:18238 \
               Connection refused",
        ..PLAIN
    },
    Case {
        folder: "4.1.0/cut-off",
        says: "error: stdout, line 11: the report stops before its last line; it was cut off",
        ..PLAIN
    },
    Case {
        folder: "4.1.0/stall-over-timeout",
        says: "measured - requests 2609 failed 6 dropped - rate 434.24 mean 10.37 max 11.63 | \
               single 0 errors 0 histogram - | \
               p50=10.36 p75=10.42 p90=10.49 p99=10.68",
        notes: &["does not say how many"],
        ..PLAIN
    },
    Case {
        folder: "4.1.0/unanswered",
        says: "measured - requests 0 failed 0 dropped - rate 0 mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["does not say how many"],
        ..PLAIN
    },
    Case {
        folder: "4.1.0/all-late",
        says: "measured - requests 12 failed 12 dropped - rate 2.38 mean - max - | \
               single 0 errors 0 histogram - |",
        notes: &["does not say how many"],
        ..PLAIN
    },
];
